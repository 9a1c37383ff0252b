"""Behaviour tests of `testing`."""
