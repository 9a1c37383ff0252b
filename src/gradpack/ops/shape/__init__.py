"""Operations that give the same elements another shape, order, layout or number of tensors."""

from ...base.late import __getattr__ as __getattr__  # functions: older pickles name them here
