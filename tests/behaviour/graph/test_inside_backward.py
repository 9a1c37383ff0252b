"""Code of the user's that runs inside a backward pass: more passes, exceptions, grad mode."""

from __future__ import annotations

import pytest


def test_reentrant_backward(torch):
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                z = x.detach().requires_grad_()
                (z * z).sum().backward()
            return g * z.grad

    x = torch.tensor([3.0], requires_grad=True)
    Inner.apply(x).backward()
    assert x.grad.item() == 6.0


def test_reentrant_backward_400_deep(torch):
    class Deeper(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if ctx.depth:
                with torch.enable_grad():
                    z = torch.ones(1, requires_grad=True)
                    Deeper.apply(z, ctx.depth - 1).backward()
            elif fail:
                raise KeyError("at the bottom")
            return g, None

    fail = False
    x = torch.ones(1, requires_grad=True)
    Deeper.apply(x, 400).backward()
    assert x.grad.item() == 1.0
    fail = True
    with pytest.raises(KeyError, match="at the bottom"):
        Deeper.apply(x, 120).backward()
    assert torch.is_grad_enabled()


def test_exception_in_backward_keeps_its_type_and_the_engine_usable(torch):
    class Fail(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise KeyError("no")

    x = torch.ones(1, requires_grad=True)
    with pytest.raises(KeyError):
        Fail.apply(x).backward()
    assert x.grad is None
    (x * 2).backward()
    assert x.grad.item() == 2.0


def test_grad_mode_in_backward_equals_create_graph(torch):
    modes = []

    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            assert not torch.is_grad_enabled()
            return x * 1

        @staticmethod
        def backward(ctx, g):
            modes.append(torch.is_grad_enabled())
            return g

    x = torch.ones(1, requires_grad=True)
    Look.apply(x).backward()
    torch.autograd.grad(Look.apply(x), x, create_graph=True)
    assert modes == [False, True]
