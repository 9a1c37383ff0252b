"""Kernels in NumPy that go through large arrays in blocks, so that intermediate values stay in the cache."""
