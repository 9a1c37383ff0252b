"""The memory of `.grad`: its strides, whose array it is, and its dtype."""

from __future__ import annotations

import copy

import pytest


def leaves(torch):
    return {
        "row-major": torch.ones(3, 4),
        "column-major": torch.ones(4, 3).t(),
        "with gaps": torch.ones(3, 8)[:, ::2],
        "expanded": torch.ones(3, 1).expand(3, 4),
    }


def gradients(torch):
    return leaves(torch) | {"one number": torch.ones(1, 1).expand(3, 4)}


@pytest.mark.parametrize("like", ["row-major", "column-major", "with gaps", "expanded"])
@pytest.mark.parametrize("given", ["row-major", "column-major", "with gaps", "expanded", "one number"])
def test_a_dense_leaf_gives_its_strides_and_any_other_is_row_major(torch, like, given):
    p = leaves(torch)[like].detach().requires_grad_()
    g = gradients(torch)[given]
    p.backward(g)
    assert p.grad.stride() == ((1, 3) if like == "column-major" else (4, 1))
    assert p.grad.data_ptr() != g.data_ptr()
    first = p.grad
    p.backward(g)
    assert p.grad is first and p.grad.tolist() == [[2.0] * 4] * 3


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("like", ["row-major", "column-major", "with gaps"])
def test_under_create_graph_the_same(torch, like):
    p = leaves(torch)[like].detach().requires_grad_()
    expected = (1, 3) if like == "column-major" else (4, 1)
    for f in (lambda: (p * p).sum(), lambda: p.t().exp().sum(), lambda: (p @ torch.ones(4, 2)).sum()):
        f().backward(create_graph=True)
        assert p.grad.stride() == expected
    p.grad = None


@pytest.mark.filterwarnings("ignore:grad and param do not obey")
def test_what_the_user_has_put_there_keeps_its_strides(torch):
    p = torch.ones(3, 4, requires_grad=True)
    p.grad = g = torch.zeros(3, 8)[:, ::2]
    (p * 2).sum().backward()
    assert p.grad is g and g.stride() == (8, 2) and g.tolist() == [[2.0] * 4] * 3


def test_the_policy_can_be_relaxed(torch):
    p = torch.ones(4, 3).t().requires_grad_()
    w = torch.ones(3, 4)
    with torch.autograd.enforce_grad_layout_policy(False):
        (p * w).sum().backward()
    assert p.grad.stride() == (4, 1)
    p.grad = None
    (p * w).sum().backward()
    assert p.grad.stride() == (1, 3)

    @torch.autograd.enforce_grad_layout_policy(False)
    def inside():
        p.grad = None
        (p * w).sum().backward()
        return p.grad.stride()

    assert inside() == (4, 1)
    assert torch.autograd.enforce_grad_layout_policy().prev is True


def test_gradients_share_no_memory_with_each_other(torch):
    a, b = (torch.ones(3, requires_grad=True) for _ in range(2))
    seen = []
    a.register_hook(seen.append)
    middle = a + b
    middle.retain_grad()
    middle.sum().backward()
    a.grad.add_(1)
    assert b.grad.tolist() == middle.grad.tolist() == seen[0].tolist() == [1.0] * 3


def test_the_gradient_of_a_scalar_is_its_own(torch):
    s, t = (torch.tensor(1.0, requires_grad=True) for _ in range(2))
    s.backward()
    s.grad.add_(4)
    t.backward()
    (g,) = torch.autograd.grad(t + 0, t)
    g.add_(4)
    assert t.grad.item() == 1.0 and torch.autograd.grad(t + 0, t)[0].item() == 1.0


@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_seed_that_requires_grad_under_create_graph(torch):
    x = torch.ones(2, requires_grad=True)
    seed = torch.tensor([2.0, 3.0], requires_grad=True)
    x.backward(seed, create_graph=True)
    assert x.grad is not seed and x.grad.grad_fn is not None and x.grad.tolist() == [2.0, 3.0]
    (x.grad * x.grad).sum().backward()
    assert seed.grad.tolist() == [4.0, 6.0]
    x.grad = None


def test_assigned_gradients_are_checked(torch):
    x = torch.ones(2, requires_grad=True)
    for bad, words in [
        (torch.ones(3), r"attempting to assign a gradient of size '\[3\]' to a tensor of size '\[2\]'"),
        (torch.ones(2).double(), "The gradient must match the tensor's grad_dtype"),
        (torch.ones(2, dtype=torch.int64), "attempting to assign a gradient with dtype"),
        (torch.ones(2, device="meta"), "with device type 'meta' to a tensor with device type 'cpu'"),
        (x, "can't assign Variable as its own grad"),
    ]:
        with pytest.raises(RuntimeError, match=words):
            x.grad = bad
    with pytest.raises(TypeError, match="expected to be a Tensor or None but got grad of type list"):
        x.grad = [1.0, 1.0]
    assert x.grad is None
    x.grad = g = torch.ones(2)
    assert x.grad is g
    del x.grad
    assert x.grad is None


def test_grad_of_a_non_leaf_warns(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    with pytest.warns(UserWarning, match=r"The \.grad attribute of a Tensor that is not a leaf Tensor is being access"):
        assert y.grad is None
    y.retain_grad()
    assert y.grad is None and y.retains_grad
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


def test_grad_dtype(torch):
    x = torch.ones(2, requires_grad=True)
    assert x.grad_dtype == torch.float32
    x.grad_dtype = torch.float64
    seen = []
    x.register_hook(lambda g: seen.append(g.dtype))
    for total in (2.0, 4.0):
        (x * 2).sum().backward()
        assert x.grad.dtype == torch.float64 and x.grad.tolist() == [total] * 2
    assert seen == [torch.float64] * 2
    with pytest.raises(RuntimeError, match="because there is already a gradient with dtype"):
        x.grad_dtype = torch.float16
    x.grad = None
    assert torch.autograd.grad((x * 2).sum(), x)[0].dtype == torch.float64
    (g,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
    assert g.dtype == torch.float64 and torch.autograd.grad(g.sum(), x)[0].tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype"):
        x.grad = torch.ones(2)


def test_grad_dtype_none_takes_any(torch):
    x = torch.ones(2, requires_grad=True)
    x.grad_dtype = None
    x.grad = torch.ones(2, dtype=torch.float64)
    x.grad = None
    x.backward(torch.ones(2, dtype=torch.float64))
    assert x.grad_dtype is None and x.grad.dtype == torch.float64
    with pytest.raises(RuntimeError, match="assign a gradient of size"):
        x.grad = torch.ones(3)


def test_grad_dtype_belongs_to_leaves(torch):
    x = torch.ones(2)
    x.grad_dtype = torch.float64
    x.requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.dtype == torch.float64
    y = x * 2
    with pytest.raises(RuntimeError, match="grad_dtype can only be accessed on leaf tensors"):
        _ = y.grad_dtype
    with pytest.raises(RuntimeError, match="grad_dtype can only be set on leaf tensors"):
        y.grad_dtype = None
    with pytest.raises(RuntimeError, match=r"must be a torch\.dtype or None, but got str"):
        x.grad_dtype = "float32"


def test_deepcopy_keeps_what_is_shared(torch):
    base = torch.zeros(4)
    whole, part = copy.deepcopy([base, base[1:3]])
    whole[1] = 9.0
    assert part.tolist() == [9.0, 0.0] and base.tolist() == [0.0] * 4
    x = torch.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    a, b = copy.deepcopy([x, x])
    assert a is b and a.is_leaf and a.requires_grad and a.grad.tolist() == [3.0, 3.0] and a.grad is not x.grad
    assert copy.deepcopy(torch.ones(3, 1).expand(3, 4)).stride() == (1, 0)
    assert copy.deepcopy(torch.ones(4, 3).t()).stride() == (1, 3)
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)
    p = torch.nn.Parameter(torch.ones(2))
    p.grad = torch.ones(2)
    assert copy.deepcopy(p).grad is None and type(copy.deepcopy(p)) is torch.nn.Parameter


def test_copies_of_results_are_leaves(torch):
    x = torch.ones(2, requires_grad=True)
    made = copy.copy(x * 2)
    assert made.is_leaf and made.requires_grad and made.tolist() == [2.0, 2.0]


def test_requires_grad_switched_off_and_on_again(torch):
    x = torch.ones(2, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 2).sum().backward()
    node = (x * 2).grad_fn.next_functions[0][0]
    x.requires_grad_(False)
    assert x.grad.tolist() == [2.0, 2.0] and not (x * 2).requires_grad
    x.requires_grad_()
    assert (x * 2).grad_fn.next_functions[0][0] is node
    (x * 2).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0] and seen == [[2.0, 2.0], [2.0, 2.0]]


def test_gradients_that_arrive_while_it_is_switched_off_are_dropped(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None
    x.requires_grad_()
    assert x.grad is None


def test_integers_have_no_gradient(torch):
    x = torch.ones(2, requires_grad=True)
    for y in (x.long(), x.to(torch.int32), x.bool(), x > 0, x.argmax(), x.type(torch.uint8)):
        assert not y.requires_grad and y.is_leaf
    for make in (
        lambda: torch.ones(2, dtype=torch.int64, requires_grad=True),
        lambda: torch.tensor([1], requires_grad=True),
        lambda: torch.tensor([1]).requires_grad_(),
    ):
        with pytest.raises(RuntimeError, match=r"nly Tensors of floating point .*dtype can require gradients"):
            make()
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        torch.ones(1).requires_grad = 1
    with pytest.raises(TypeError, match="must be bool, not int"):
        torch.ones(1).requires_grad_(1)


def test_the_relaxed_policy_holds_where_hooks_are_registered_too(torch):
    p = torch.ones(4, 3).t().requires_grad_()
    handle = torch.ones(1, requires_grad=True).register_hook(lambda g: None)
    with torch.autograd.enforce_grad_layout_policy(False):
        (p * torch.ones(3, 4)).sum().backward()
    assert p.grad.stride() == (4, 1)
    handle.remove()


def test_a_gradient_that_is_somebody_elses_memory_is_copied(torch, real):
    class Itself(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return ctx.saved_tensors[0].detach()

    a = torch.ones(2, requires_grad=True)
    Itself.apply(a).sum().backward()
    a.grad.add_(5)
    assert a.tolist() == ([6.0, 6.0] if real else [1.0, 1.0])
