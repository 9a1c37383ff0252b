"""Behaviour tests of `autograd`."""
