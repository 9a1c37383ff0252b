"""`torch.testing`: comparing results, and making tensors to compare.

`gradpack.testing.sim` is a device to test on, `gradpack.testing.hooks` checks saved tensor hooks.
"""

from __future__ import annotations

from ._comparison import assert_close
from ._creation import make_tensor

__all__ = ["assert_close", "make_tensor"]
