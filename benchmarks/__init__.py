"""Measurements against torch and other autograd libraries, in one process."""
