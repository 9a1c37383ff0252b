"""Behaviour tests of `optim`."""
