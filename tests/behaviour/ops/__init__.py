"""Behaviour tests of `ops`."""
