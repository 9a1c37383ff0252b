"""What `gradcheck` compares: Jacobians by finite differences and by backward, and undefined gradients."""
