"""`nn.utils.skip_init`: modules whose parameters nobody has filled."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("made", ["Linear(2, 3)", "Conv1d(2, 3, 4)", "BatchNorm2d(3)", "MultiheadAttention(4, 2)"])
def test_no_random_numbers_are_drawn(torch, made):
    name, _, sizes = made.partition("(")
    kind, given = getattr(torch.nn, name), [int(n) for n in sizes.rstrip(")").split(",")]
    torch.manual_seed(0)
    first = torch.rand(2)
    torch.manual_seed(0)
    module = torch.nn.utils.skip_init(kind, *given, dtype=torch.float64)
    assert torch.equal(torch.rand(2), first)
    wanted = {n: (p.shape, torch.float64, True) for n, p in kind(*given).named_parameters()}
    assert {n: (p.shape, p.dtype, p.requires_grad) for n, p in module.named_parameters()} == wanted
    assert {p.device.type for p in module.parameters()} == {"cpu"}


def test_what_skip_init_refuses(torch):
    with pytest.raises(RuntimeError, match="Module must support a 'device' arg"):
        torch.nn.utils.skip_init(torch.nn.ReLU)
    with pytest.raises(RuntimeError, match="Expected a Module"):
        torch.nn.utils.skip_init(dict)
    layer = torch.nn.utils.skip_init(torch.nn.Linear, 2, 3, device="meta")
    assert layer.weight.device.type == "meta"
