"""Sparse tensors in coordinate form."""
