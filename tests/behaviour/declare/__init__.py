"""Behaviour tests of `declare`."""
