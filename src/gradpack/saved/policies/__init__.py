"""Policies that store, compress, move or recompute saved tensors, and what they share."""
