"""Convolutions, pooling, and windows that slide over images."""
