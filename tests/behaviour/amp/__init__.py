"""Behaviour tests of `amp`."""
