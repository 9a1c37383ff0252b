"""Writes that fit less than NumPy's rules would let them, and views that are odd to write to."""

from __future__ import annotations

import copy

import pytest


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize(("target", "source"), [((), (1,)), ((3,), (1, 3)), ((2, 3), (1, 1, 3)), ((3,), (2,))])
def test_copy_takes_no_source_of_more_dimensions(torch, grad, target, source):
    x = torch.zeros(target)
    with torch.set_grad_enabled(grad), pytest.raises(RuntimeError):
        x.copy_(torch.ones(source))
    assert not x.any()
    assert x._version == 0


def test_a_subscript_takes_leading_ones(torch):
    x = torch.zeros(3)
    x[:] = torch.ones(1, 3)
    assert x.tolist() == [1.0] * 3


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("dim", [0, -1])
def test_repeat_interleave_of_a_number_has_no_dimension(torch, repeats, dim):
    with pytest.raises(IndexError):
        torch.tensor(2.0).repeat_interleave(repeats, dim)
    assert torch.tensor(2.0).repeat_interleave(repeats).tolist() == [2.0] * repeats


def test_out_that_grows_in_inference_mode(torch):
    with torch.inference_mode():
        out = torch.empty(0)
        assert torch.add(torch.ones(3), 1, out=out) is out
        assert out.is_inference()
    assert out.tolist() == [2.0] * 3


@pytest.mark.parametrize("change", [lambda t, q: q.set_(t.ones(3)), lambda t, q: q.resize_(1), lambda t, q: q.mul_(2)])
def test_an_inference_tensor_is_not_changed_outside(torch, change):
    with torch.inference_mode():
        q = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        change(torch, q)
    with torch.inference_mode():
        change(torch, q)


def test_fill_diagonal_of_a_part_of_complex_numbers(torch):
    x = torch.ones(3, 3, requires_grad=True)
    part = torch.complex(x, x).imag
    part.fill_diagonal_(5.0)
    assert part.tolist() == [[5.0, 1.0, 1.0], [1.0, 5.0, 1.0], [1.0, 1.0, 5.0]]
    part.sum().backward()
    assert x.grad.diagonal().tolist() == [0.0] * 3
    tall = torch.complex(torch.zeros(7, 2), torch.zeros(7, 2)).real.fill_diagonal_(2.0, wrap=True)
    assert tall.nonzero().tolist() == [[0, 0], [1, 1], [3, 0], [4, 1], [6, 0]]


def test_a_copy_of_a_view_of_a_leaf_requires_grad_as_the_view_does(torch):
    x = torch.ones(2, 3, requires_grad=True)
    with torch.no_grad():
        view = x.view(-1)
    assert copy.deepcopy(view).requires_grad == view.requires_grad


def test_movedim_of_a_number_is_the_number_again(torch):
    x = torch.tensor(1.0, requires_grad=True)
    assert type(torch.movedim(x, 0, -1).grad_fn).__name__ == "AliasBackward0"


@pytest.mark.parametrize(
    ("subscript", "dim"),
    [((..., 0), 2), ((None, ..., 0), 3), ((0,), 0), ((slice(None), 1), 1), ((0, 1), 0), ((slice(None), None, 1), 2)],
    ids=str,
)
def test_the_dimension_that_a_subscript_has_saved(torch, subscript, dim):
    x = torch.zeros(2, 3, 4, requires_grad=True)
    assert x[subscript].grad_fn._saved_dim == dim


@pytest.mark.parametrize("shape", [(0,), (0, 2, 3)])
def test_reductions_of_each_of_no_examples(torch, shape):
    x = torch.zeros(shape)
    for f in (torch.sum, torch.mean, torch.prod, torch.argmax if len(shape) > 1 else torch.sum, torch.Tensor.median):
        assert torch.func.vmap(f)(x).shape == (0,)
    assert torch.func.vmap(torch.func.grad(lambda q: q.tanh().sum()))(x).shape == shape


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_the_result_of_gelu_may_be_written_to(torch, approximate):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.nn.functional.gelu(x, approximate=approximate)
    (twice,) = torch.autograd.grad(torch.nn.functional.gelu(x, approximate=approximate).sum() * 2, x)
    y.mul_(2)
    y.sum().backward()
    assert torch.allclose(x.grad, twice)
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        torch.nn.functional.gelu(x, approximate=approximate)
    assert [t.tolist() for t in packed] == [[1.0, 2.0]]


@pytest.mark.parametrize(("shape", "normalized"), [((0,), (0,)), ((3, 0), (0,)), ((0, 3), (3,)), ((2, 0, 3), (0, 3))])
def test_layer_norm_of_nothing(torch, shape, normalized):
    x, w = torch.zeros(shape, requires_grad=True), torch.ones(normalized, requires_grad=True)
    y = torch.nn.functional.layer_norm(x, normalized, w)
    y.sum().backward()
    assert y.shape == x.shape == x.grad.shape
    assert w.grad.shape == w.shape and not w.grad.any()
    rstd = torch.native_layer_norm(x, normalized, w, None, 1e-5)[2]
    assert rstd.isnan().all() if 0 in normalized else rstd.shape == (0, 1)


def test_parts_that_were_written_through_their_base_can_be_compared(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for whole in (x, x * 1):
        a, b = whole.unbind()
        with torch.no_grad():
            whole[0] = 5
        assert bool(a >= b) and not bool(a < b)


def test_an_expanded_result_of_no_elements_is_written_to(torch):
    x = torch.ones(1, 1, requires_grad=True)
    y = (x * x).expand(0, 2).sub_(torch.zeros(0, 2))
    y.sum().backward()
    assert y.shape == (0, 2) and x.grad.tolist() == [[0.0]]


WRITES_TO_EXPANDED = {
    "mask": lambda torch, x: x.__setitem__(torch.tensor([True, False, True]), 1.0),
    "whole mask": lambda torch, x: x.__setitem__(torch.tensor([[True, True], [False, False], [True, True]]), 1.0),
    "index": lambda torch, x: x.__setitem__(torch.tensor([0, 2]), 1.0),
    "index_put_": lambda torch, x: x.index_put_((torch.tensor([0, 2]),), torch.tensor(1.0)),
}


@pytest.mark.parametrize("write", WRITES_TO_EXPANDED)
def test_a_mask_or_index_writes_to_what_is_expanded(torch, write):
    base = torch.zeros(3, 1)
    with pytest.warns(UserWarning, match="on expanded tensors is deprecated"):
        WRITES_TO_EXPANDED[write](torch, base.expand(3, 2))
    assert base.tolist() == [[1.0], [0.0], [1.0]]
    with pytest.raises(RuntimeError, match="more than one element"):
        base.expand(3, 2)[0] = 5.0
    assert base.tolist() == [[1.0], [0.0], [1.0]]


def test_a_number_to_the_power_of_a_transposed_tensor_is_contiguous(torch):
    x = torch.arange(6.0).reshape(2, 3).mT
    for power in (2**x, torch.pow(2.5, x), 2 ** x.long(), 2 ** x.clone().mT.contiguous().mT.requires_grad_()):
        assert power.is_contiguous() and power.shape == (3, 2)
    assert (2**x).tolist() == [[1.0, 8.0], [2.0, 16.0], [4.0, 32.0]]
    assert (x**2).stride() == (1, 3)
