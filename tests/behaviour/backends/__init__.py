"""Behaviour tests of `backends`."""
