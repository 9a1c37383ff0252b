"""Pictures of the autograd graph."""
