"""Custom functions."""

from __future__ import annotations

import pytest


def test_forward_and_backward(torch):
    class Mul(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b, k):
            ctx.k = k
            ctx.save_for_backward(a, b)
            return a * b * k

        @staticmethod
        def backward(ctx, g):
            _, b = ctx.saved_tensors
            assert ctx.needs_input_grad == (True, False, False)
            return g * b * ctx.k, None, None

    a = torch.tensor([2.0], requires_grad=True)
    y = Mul.apply(a, torch.tensor([3.0]), 4)
    assert y.grad_fn.name() == "MulBackward"
    y.backward()
    assert a.grad.item() == 12.0


def test_setup_context(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    x = torch.tensor([3.0], requires_grad=True)
    Square.apply(x).backward()
    assert x.grad.item() == 6.0


def test_double_backward_through_the_users_backward(torch):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x**2

    x = torch.tensor(2.0, requires_grad=True)
    (g,) = torch.autograd.grad(Cube.apply(x), x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert h.item() == 12.0


def test_saved_result_in_double_backward(torch):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    x = torch.tensor(0.0, requires_grad=True)
    (g,) = torch.autograd.grad(Exp.apply(x), x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert h.item() == 1.0


def test_wrong_number_of_gradients(torch):
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            return g

    a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
    with pytest.raises(RuntimeError, match="incorrect number of gradients"):
        Bad.apply(a, b).backward()


def test_extra_none_gradients_are_accepted(torch):
    class Extra(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return g, None, None

    a = torch.ones(1, requires_grad=True)
    Extra.apply(a).backward()
    assert a.grad.item() == 1.0


def test_wrong_shape_of_gradient(torch):
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return torch.ones(5)

    a = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="invalid gradient at index 0"):
        Bad.apply(a).sum().backward()


def test_several_results_and_materialised_zeros(torch):
    seen = []

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            seen.append((a.tolist(), b.tolist()))
            return a * 2 + b * 3

    x = torch.ones(1, requires_grad=True)
    y, _ = Two.apply(x)
    y.backward()
    assert seen == [([1.0], [0.0])] and x.grad.item() == 2.0


def test_no_materialised_grads(torch):
    seen = []

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            seen.append(b)
            return a * 2

    x = torch.ones(1, requires_grad=True)
    y, _ = Two.apply(x)
    y.backward()
    assert seen == [None]


def test_mark_non_differentiable(torch):
    class Sort(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            i = torch.arange(2)
            f = x * 0
            ctx.mark_non_differentiable(i, f)
            return x * 1, i, f

        @staticmethod
        def backward(ctx, g, gi, gf):
            return g

    x = torch.ones(2, requires_grad=True)
    y, i, f = Sort.apply(x)
    assert y.requires_grad and not i.requires_grad and not f.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_mark_dirty(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(2, requires_grad=True)
    h = x * 1
    y = Double.apply(h)
    assert y is h and h.tolist() == [2.0, 2.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_returned_input_is_a_new_object(torch):
    class Identity(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(1, requires_grad=True)
    y = Identity.apply(x)
    assert y is not x and y.grad_fn is not None
    y.backward()
    assert x.grad.item() == 2.0


def test_once_differentiable(torch):
    from_module = torch.autograd.function.once_differentiable

    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @from_module
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    x = torch.tensor([2.0], requires_grad=True)
    Once.apply(x).backward()
    assert x.grad.item() == 4.0
    (g,) = torch.autograd.grad(Once.apply(x), x, torch.ones(1, requires_grad=True), create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.backward()


@pytest.mark.filterwarnings("ignore:.*should not be instantiated")  # a warning in torch before the error
def test_not_to_be_instantiated_or_missing(torch):
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

    x = torch.ones(1, requires_grad=True)
    with pytest.raises(NotImplementedError):
        Nothing.apply(x).backward()
    with pytest.raises(RuntimeError):
        Nothing()(x)


def test_save_for_backward_takes_tensors_only(torch):
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(1)
            return x * 1

    with pytest.raises(TypeError):
        Bad.apply(torch.ones(1, requires_grad=True))


def test_none_gradient_leaves_grad_none(torch):
    class Drop(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    x = torch.ones(1, requires_grad=True)
    Drop.apply(x).backward()
    assert x.grad is None
