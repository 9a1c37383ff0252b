"""Behaviour tests of `compat`."""
