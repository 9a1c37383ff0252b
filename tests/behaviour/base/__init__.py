"""Behaviour tests of `base`."""
