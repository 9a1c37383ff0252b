"""The Python that compiled functions look at beside tensors: variables, attributes, code, and whether these changed."""
