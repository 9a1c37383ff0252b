"""Behaviour tests of `utils`."""
