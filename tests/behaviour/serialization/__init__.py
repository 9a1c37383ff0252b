"""Behaviour tests of `serialization`."""
