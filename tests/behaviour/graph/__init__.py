"""Behaviour tests of `graph`."""
