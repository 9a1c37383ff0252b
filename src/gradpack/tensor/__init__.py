"""Tensor, its views and versions, and what is saved for backward."""
