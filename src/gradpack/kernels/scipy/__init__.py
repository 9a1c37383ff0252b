"""Kernels that are products with sparse matrices: SciPy runs one compiled loop for each."""
