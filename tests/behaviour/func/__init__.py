"""Behaviour tests of `func`."""
