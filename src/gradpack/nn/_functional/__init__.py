"""The functions of `nn.functional` that are more than an operation."""
