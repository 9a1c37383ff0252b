"""Checks of `gradcheck`: Jacobians by finite differences and by backward, and undefined gradients."""
