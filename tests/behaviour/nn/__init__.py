"""Behaviour tests of `nn`."""
