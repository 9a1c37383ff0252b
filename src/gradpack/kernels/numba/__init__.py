"""Kernels that Numba compiles: each lays out arrays, and calls loops."""
