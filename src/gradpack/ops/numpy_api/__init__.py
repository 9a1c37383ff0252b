"""NumPy's functions and protocols on tensors."""
