"""Tensor, views, version counters and saved tensors."""
