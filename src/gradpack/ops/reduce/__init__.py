"""Operations along dimensions: sums, extremes, running sums, sorting, counting."""

from ...base.late import __getattr__ as __getattr__  # functions: older pickles name them here
