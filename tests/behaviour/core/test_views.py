"""Views: their base, their history, and what may not be written to."""

from __future__ import annotations

import pytest


def names(tensor):
    """The name of a tensor's node, and those of the nodes before it."""
    before = [None if node is None else node.name() for node, _ in tensor.grad_fn.next_functions]
    return tensor.grad_fn.name(), before


def test_base_is_the_root_of_a_chain(torch):
    x = torch.ones(4)
    v = x[1:]
    w = v[1:]
    assert not x._is_view() and x._base is None
    assert v._is_view() and v._base is x and w._base is x
    assert not x.detach()._is_view() and not x.data._is_view()
    y = torch.ones(4, requires_grad=True) * 1
    assert y.view(2, 2).t()._base is y


VIEWS = {
    "select": lambda y: y[0],
    "slice": lambda y: y[1:],
    "view": lambda y: y.view(-1),
    "transpose": lambda y: y.t(),
    "diagonal": lambda y: y.diagonal(),
    "unsqueeze": lambda y: y.unsqueeze(0),
    "expand": lambda y: y.expand(2, 2, 2),
    "unfold": lambda y: y.unfold(0, 2, 1),
    "two steps": lambda y: y.t()[1],
    "as_strided": lambda y: y.as_strided((2,), (2,), 1),
}


@pytest.mark.parametrize("take", VIEWS.values(), ids=VIEWS)
def test_history_of_a_view_after_a_write_to_its_base(torch, take):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    v = take(y)
    y.mul_(x)
    assert names(v) == ("AsStridedBackward0", ["MulBackward0"])
    (g,) = torch.autograd.grad((v * v).sum(), x, create_graph=True)
    (expected,) = torch.autograd.grad((take(x * x) ** 2).sum(), x, create_graph=True)
    assert torch.allclose(g, expected)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert torch.allclose(h, torch.autograd.grad(expected.sum(), x)[0])


@pytest.mark.parametrize("take", [VIEWS[k] for k in VIEWS if k not in ("expand", "unfold")])
@pytest.mark.parametrize("write", ["mul_", "exp_", "copy_", "tanh_"])
def test_history_of_the_base_after_a_write_to_a_view(torch, take, write):
    x = torch.tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=True)
    y = x * 1
    v = take(y)
    old = v.detach().clone()
    values = x.sum() * torch.ones(()) if write in ("mul_", "copy_") else None
    getattr(v, write)(*(() if values is None else (values,)))
    assert names(y)[0] == "torch::autograd::CopySlices" and names(v) == ("AsStridedBackward0", [names(y)[0]])
    wanted = {"mul_": lambda: old * x.sum(), "exp_": old.exp, "copy_": lambda: old * 0 + x.sum(), "tanh_": old.tanh}
    assert torch.allclose(v, wanted[write]())
    weights = torch.tensor([[1.0, 2.0], [3.0, 4.0]])

    def whole(z):
        """The same without writing: the elements of the view are told by their places."""
        places = take(torch.arange(4).view(2, 2)).reshape(-1)
        chosen = torch.zeros(4).index_fill(0, places, 1.0).view(2, 2)
        changed = {"mul_": lambda: z * z.sum(), "exp_": z.exp, "copy_": lambda: z * 0 + z.sum(), "tanh_": z.tanh}
        return chosen * changed[write]() + (1 - chosen) * z

    (g,) = torch.autograd.grad((y * y * weights).sum(), x, create_graph=True)
    (expected,) = torch.autograd.grad((whole(x) ** 2 * weights).sum(), x, create_graph=True)
    assert torch.allclose(g, expected)
    (h,) = torch.autograd.grad((g * weights).sum(), x)
    assert torch.allclose(h, torch.autograd.grad((expected * weights).sum(), x)[0])


def test_backward_twice_through_a_write(torch):
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    y[0].add_(1)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()


def test_view_taken_before_its_base_required_grad(torch):
    x = torch.ones(3)
    v = x[1:]
    x.requires_grad_()
    assert v.requires_grad and v.is_leaf and v.grad_fn is None
    out = v.sum()
    assert out.requires_grad and out.grad_fn.next_functions == ((None, 0),)
    out.backward()
    assert x.grad is None and v.grad is None
    with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable that requires grad is being used"):
        v.add_(1)
    with torch.no_grad():
        x.add_(1)
    assert v.grad_fn.name() == "AsStridedBackward0"


def test_view_that_requires_grad_itself(torch):
    x = torch.ones(3)
    v = x[1:].requires_grad_()
    assert not x.requires_grad and v.requires_grad and v.is_leaf and v._is_view()
    with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable"):
        v.add_(1)
    x.add_(1)
    assert v.tolist() == [2.0, 2.0] and v._version == 1


WHY = {
    "no_grad": "A view was created in no_grad mode and is being modified inplace with grad mode enabled",
    "indirect": "A view was created in no_grad mode and its base or another view of its base has been modified inplace",
    "of a view": "Output 0 of Select is a view of a view which was created in no_grad mode and is being modified",
    "several": "Output 1 of Split is a view and is being modified inplace. This view is the output of a function that "
    "returns multiple views",
    "several, indirect": "Output 0 of Unbind is a view and its base or another view of its base has been modified",
}


def test_views_that_may_not_be_written_to(torch):
    x = torch.ones(4, requires_grad=True)
    y = x * 1
    with torch.no_grad():
        v = y[:2]
    with pytest.raises(RuntimeError, match=WHY["no_grad"]):
        v.mul_(2)
    with pytest.raises(RuntimeError, match=WHY["of a view"]):
        v[0].mul_(2)
    with pytest.raises(RuntimeError, match=WHY["several"]):
        y.split(2)[1].mul_(2)
    assert y._version == 0
    part = y.unbind()[0]
    y.mul_(2)
    with pytest.raises(RuntimeError, match=WHY["indirect"]):
        _ = v.grad_fn
    assert "grad_fn=<Invalid>" in repr(v)
    with pytest.raises(RuntimeError, match=WHY["several, indirect"]):
        part * 2
    with torch.no_grad():
        assert (v * 2).tolist() == [4.0, 4.0]


def test_several_views_without_grad_may_be_written_to(torch):
    y = torch.ones(4)
    a, b = y.chunk(2)
    a.zero_()
    assert y.tolist() == [0.0, 0.0, 1.0, 1.0]
    with pytest.raises(RuntimeError, match="returns multiple views"):
        b.mul_(torch.ones(2, requires_grad=True))


def test_unsafe_split_and_chunk(torch):
    x = torch.ones(4, requires_grad=True)
    a, b = torch.unsafe_split(x * 1, 2)
    assert not a._is_view() and a.grad_fn.name() == "UnsafeSplitBackward0"
    a.mul_(3)
    (a.sum() + b.sum()).backward()
    assert x.grad.tolist() == [3.0, 3.0, 1.0, 1.0]
    assert [p.tolist() for p in torch.arange(5).unsafe_chunk(2)] == [[0, 1, 2], [3, 4]]


def test_views_of_inference_tensors(torch):
    with torch.inference_mode():
        t = torch.ones(3)
        assert not t[0]._is_view()
    assert not t[0]._is_view() and t[0].is_inference()
    for write in (lambda: t.add_(1), lambda: t[0].add_(1)):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
            write()
    x = torch.ones(3)
    with torch.inference_mode():
        v = x[0]
        x.add_(1)
        assert not v.is_inference() and x._version == 1


def test_as_strided_reaches_beyond_a_view(torch):
    x = torch.arange(6.0, requires_grad=True)
    v = (x * 1)[2:5]
    w = v.as_strided((3,), (1,), 1)
    assert w.tolist() == [1.0, 2.0, 3.0] and w._base is v._base
    assert torch.autograd.grad(w.sum(), x)[0].tolist() == [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
    with pytest.raises(RuntimeError, match="out of bounds for storage"):
        x.detach().as_strided((7,), (1,))
    with pytest.raises(RuntimeError, match="Negative strides"):
        x.detach().as_strided((2,), (-1,))


def test_retained_gradient_follows_the_value(torch):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y[0].mul_(5)
    (y * y).sum().backward()
    assert y.grad.tolist() == [20.0, 4.0, 4.0] and x.grad.tolist() == [200.0, 8.0, 8.0]


def test_hook_on_a_base_sees_the_gradient_of_its_old_value(torch):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y[0].mul_(5)
    y.sum().backward()
    assert seen == [[5.0, 1.0, 1.0]]


def test_complex_parts_written_through(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = x * (1 + 2j)
    torch.view_as_real(c)[:, 1].mul_(x)
    c.real.mul_(3)
    assert torch.allclose(torch.view_as_real(c), torch.tensor([[3.0, 2.0], [6.0, 8.0]]))
    torch.view_as_real(c).sum().backward()
    assert x.grad.tolist() == [7.0, 11.0]


def test_as_strided_scatter_counts_in_the_memory_of_the_tensor(torch):
    x = torch.arange(12.0).reshape(3, 4)[:, 1:3]
    assert torch.as_strided_scatter(x, torch.tensor(-1.0), (), (), 0).tolist() == x.tolist()
    made = torch.as_strided_scatter(x, torch.tensor([-1.0, -2.0]), (2,), (4,), 5)
    assert made.tolist() == [[1.0, 2.0], [-1.0, 6.0], [-2.0, 10.0]]


@pytest.mark.filterwarnings("ignore:.*torch.jit")
@pytest.mark.parametrize("part", ["real", "imag", "view_as_real"])
def test_many_gradients_through_a_write_to_a_part_of_complex_numbers(torch, part):
    def moduli(x):
        c = torch.complex(x, 2 * x)
        (torch.view_as_real(c) if part == "view_as_real" else getattr(c, part)).mul_(3.0)
        return c.abs() ** 2

    x = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    slope = {"real": 26.0, "imag": 74.0, "view_as_real": 90.0}[part]
    expected = torch.diag(slope * x.detach())
    assert torch.allclose(torch.autograd.functional.jacobian(moduli, x, vectorize=True), expected)
    assert torch.allclose(torch.func.jacrev(moduli)(x), expected)
    assert torch.allclose(torch.func.hessian(lambda x: moduli(x).sum())(x), slope * torch.eye(2, dtype=torch.float64))
    assert torch.autograd.gradcheck(moduli, (x,), check_batched_grad=True)
    assert torch.autograd.gradgradcheck(moduli, (x,))


def test_as_strided_of_an_expanded_tensor(torch):
    x = torch.arange(3.0, requires_grad=True)
    x.expand(2, 3).as_strided((4, 3), (0, 1)).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0, 4.0]
    assert torch.autograd.gradgradcheck(
        lambda t: t.expand(2, 3).as_strided((4, 3), (0, 1)).sin(), x.detach().double().requires_grad_()
    )


def test_strides_of_new_dimensions(torch):
    x = torch.zeros(3, 4)
    assert x[None].stride() == (12, 4, 1) and x[:, None].stride() == (4, 4, 1) and x[..., None].stride() == (4, 1, 1)
    assert x[0, None].stride() == (4, 1) and x[None, None].stride() == (12, 12, 4, 1)
