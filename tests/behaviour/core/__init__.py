"""Behaviour tests of `core`."""
