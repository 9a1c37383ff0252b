"""Random numbers: generators, tensors of random numbers, and distributions with gradients."""

from ...base.late import __getattr__ as __getattr__  # functions: older pickles name them here
