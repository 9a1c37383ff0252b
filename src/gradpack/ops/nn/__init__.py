"""Layers: affine maps, attention, normalisation, dropout, embeddings, losses, padding, resampling, recurrence."""
