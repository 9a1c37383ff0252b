"""Names that a module lacks: the message has the public one that is most like it."""

from __future__ import annotations

import importlib

import pytest

MEANT = {
    "optim.Addam": "Adam",
    "optim.adamW": "AdamW",
    "utils.data.Dataloader": "DataLoader",
    "distributions.normal_": "Normal",
    "nn.BatchNorm": "BatchNorm1d",
    "nn.Liner": "Linear",
    "nn.init.xavier": "xavier_normal_",
    "nn.functional.reluu": "relu",
    "nn.functional.crossentropy": "cross_entropy",
    "saved.bf17": "bf16",
    "extend.list_op": "list_ops",
}


@pytest.mark.parametrize("path", MEANT)
def test_the_name_that_was_meant(path):
    module, _, name = path.rpartition(".")
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'. Did you mean: '{MEANT[path]}'"):
        getattr(importlib.import_module(f"gradpack.{module}"), name)
