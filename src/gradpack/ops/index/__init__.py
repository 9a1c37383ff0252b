"""Reading and writing by index, mask and subscript."""

from ...base.late import __getattr__ as __getattr__  # functions: older pickles name them here
