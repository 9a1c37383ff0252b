"""Random numbers: generators, tensors of random numbers, and distributions with gradients."""
