"""Batched tensors, and the rules by which operations run on them."""
