"""New tensors from data, values and other libraries, and conversions of dtype and device."""

from ...base.late import __getattr__ as __getattr__  # functions: older pickles name them here
