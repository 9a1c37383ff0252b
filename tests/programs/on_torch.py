"""Runs a program on torch. A torchvision whose operators do not load is imported all the same, as on gradpack."""

import os
import runpy
import sys
from importlib.util import find_spec

sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])
if find_spec("torchvision") is not None:
    import torch

    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        for name in [n for n in sys.modules if n.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        for operator in ("nms", "qnms"):
            torch.library.define(f"torchvision::{operator}", "(Tensor dets, Tensor scores, float threshold) -> Tensor")
runpy.run_path(sys.argv[0], run_name="__main__")
