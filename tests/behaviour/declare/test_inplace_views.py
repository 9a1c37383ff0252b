"""In-place operations, views, versions."""

from __future__ import annotations

import pytest


def test_in_place_records(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.mul_(3)
    y += 1
    assert y.grad_fn.name() == "AddBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


@pytest.mark.parametrize("name", ["exp_", "sin_", "sigmoid_", "tanh_", "relu_", "neg_", "abs_"])
def test_in_place_equals_out_of_place(torch, name):
    x = torch.tensor([0.5, -0.3], requires_grad=True)
    getattr(x.clone(), name)().sum().backward()
    g = x.grad.clone()
    x.grad = None
    getattr(x, name[:-1])().sum().backward()
    assert torch.allclose(g, x.grad)


def test_leaf_is_refused(torch):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0].add_(1)
    with pytest.raises(RuntimeError):
        x[0] = 1
    assert x.tolist() == [1.0, 1.0] and x._version == 0
    with torch.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 2.0]


def test_in_place_on_view_changes_the_base(torch):
    x = torch.ones(4, requires_grad=True)
    base = x * 1
    v = base[:2]
    v.mul_(3)
    assert base.tolist() == [3.0, 3.0, 1.0, 1.0]
    assert type(base.grad_fn).__name__ == "CopySlices"
    (base * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [3.0, 6.0, 3.0, 4.0]


def test_in_place_on_base_changes_the_view(torch):
    x = torch.ones(4, requires_grad=True)
    base = x * 1
    v = base[:2]
    base.mul_(3)
    v.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 0.0, 0.0]


def test_other_views_see_the_write(torch):
    x = torch.ones(4, requires_grad=True)
    base = x * 1
    a, b = base[:2], base[1:]
    a.mul_(5)
    b.sum().backward()
    assert x.grad.tolist() == [0.0, 5.0, 1.0, 1.0]


def test_write_that_needs_grad_into_a_base_that_does_not(torch):
    base = torch.zeros(3)
    v = base[1:]
    w = torch.ones(2, requires_grad=True)
    v.copy_(w * 2)
    assert base.requires_grad and v.requires_grad
    (base * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert w.grad.tolist() == [4.0, 6.0]


def test_setitem(torch):
    x = torch.ones(3, requires_grad=True)
    w = torch.tensor(2.0, requires_grad=True)
    y = x * 1
    y[1] = w * 3
    (y * torch.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 4.0] and w.grad.item() == 6.0


def test_setitem_with_index_tensor(torch):
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    y[torch.tensor([0, 2])] = 5.0
    assert y.tolist() == [5.0, 1.0, 5.0]
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]


def test_view_of_a_view(torch):
    x = torch.ones(2, 3, requires_grad=True)
    base = x * 1
    v = base.t()[1]
    v.mul_(4)
    assert base.tolist() == [[1.0, 4.0, 1.0], [1.0, 4.0, 1.0]]
    base.sum().backward()
    assert x.grad.tolist() == [[1.0, 4.0, 1.0], [1.0, 4.0, 1.0]]


def test_view_made_in_no_grad(torch):
    x = torch.ones(2, requires_grad=True)
    base = x * 1
    with torch.no_grad():
        v = base[:1]
    with pytest.raises(RuntimeError, match="no_grad"):
        v.mul_(2)


def test_multi_output_view(torch):
    x = torch.ones(4, requires_grad=True)
    a, _ = (x * 1).split(2)
    with pytest.raises(RuntimeError, match="multiple views"):
        a.mul_(2)


def test_expanded_tensor_is_refused(torch):
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.ones(1).expand(3).add_(1)


def test_random_fill_cuts_the_gradient(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.uniform_()
    (y * 3).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]
    state = torch.get_rng_state()
    with pytest.raises(RuntimeError, match="leaf"):
        x.normal_()
    assert torch.equal(state, torch.get_rng_state())


def test_version_counts(torch):
    x = torch.zeros(2)
    assert x._version == 0
    x.add_(1)
    x[0] = 3
    assert x._version == 2
    assert x[0]._version == 2


def test_result_must_fit(torch):
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.ones(2, dtype=torch.int64).add_(0.5)
    with pytest.raises(RuntimeError, match="broadcast shape"):
        torch.ones(2).add_(torch.ones(3, 2))


def test_detach_in_place(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.detach_()
    assert y.is_leaf and not y.requires_grad
    with pytest.raises(RuntimeError):
        (x * 2)[:1].detach_()


def test_data_assignment(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    x.data = torch.tensor([3.0, 4.0])
    y.backward()
    assert x.grad.tolist() == [6.0, 8.0]


def test_double_backward_through_in_place_on_view(torch):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    base = x * x
    base[1:].mul_(x[1:])
    (g,) = torch.autograd.grad(base.sum(), x, create_graph=True)
    assert torch.allclose(g, torch.tensor([2.0, 12.0, 27.0]))
    (h,) = torch.autograd.grad(g.sum(), x)
    assert torch.allclose(h, torch.tensor([2.0, 12.0, 18.0]))


def test_inference_mode(torch):
    with torch.inference_mode():
        t = torch.ones(2)
        u = t * 2
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
    assert t.is_inference() and u.is_inference()
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * t
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        t.add_(1)
    (x + t).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
