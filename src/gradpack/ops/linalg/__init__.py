"""Linear algebra: products, factorisations, linear systems, eigenvalues."""
