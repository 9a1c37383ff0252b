"""Sparse tensors in coordinate form."""

from ...base.late import __getattr__ as __getattr__  # functions: older pickles name them here
