"""inference_mode: what its tensors may not do, and where."""

from __future__ import annotations

import pytest


def made(torch, *size):
    with torch.inference_mode():
        return torch.ones(*(size or (2,)))


def test_tensors_made_inside(torch):
    with torch.inference_mode():
        x = torch.ones(2)
        z = torch.ones(2, requires_grad=True)
        y = z * 2
        assert x.is_inference() and torch.is_inference(y) and not y.requires_grad and y.grad_fn is None
        assert z.requires_grad and z.is_leaf
        assert not torch.is_grad_enabled() and torch.is_inference_mode_enabled()
        x.add_(1)
        with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
            _ = x._version
    assert x.tolist() == [2.0, 2.0] and torch.is_grad_enabled() and not torch.is_inference_mode_enabled()


def test_enable_grad_inside_records_nothing(torch):
    with torch.inference_mode():
        x = torch.ones(2, requires_grad=True)
        with torch.enable_grad():
            assert torch.is_grad_enabled()
            assert not (x * 2).requires_grad


def test_leaving_inside(torch):
    with torch.inference_mode():
        x = torch.ones(2)
        with torch.inference_mode(False):
            assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
            assert not torch.ones(1).is_inference() and not (x * 2).is_inference() and x.view(2).is_inference()
        assert torch.is_inference_mode_enabled()


def test_not_to_be_written_to_outside(torch):
    x = made(torch)
    for write in (lambda: x.add_(1), lambda: x.zero_(), lambda: x.__setitem__(0, 1.0)):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode is not allo"):
            write()
        with torch.no_grad(), pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
            write()
    with torch.inference_mode():
        x.add_(1)


def test_not_to_be_saved_for_backward(torch):
    x = made(torch)
    a = torch.ones(2, requires_grad=True)
    for use in (lambda: a * x, lambda: a.matmul(x), lambda: a.clone().mul_(x)):
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            use()
    (a + x).sum().backward()
    assert a.grad.tolist() == [1.0, 1.0]
    with torch.no_grad():
        assert (a * x).tolist() == [1.0, 1.0]
    (a * x.clone()).sum().backward()
    assert a.grad.tolist() == [2.0, 2.0]


def test_not_to_require_grad_outside(torch):
    x = made(torch)
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
        x.requires_grad_()
    assert x.requires_grad_(False) is x
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
        torch.nn.Parameter(x)


def test_views_are_and_copies_are_not(torch):
    x = made(torch, 2, 2)
    assert all(y.is_inference() for y in (x.view(4), x[0], x.t(), x.detach(), x.data))
    assert not any(y.is_inference() for y in (x.clone(), x + 1, x.double()))
    assert x.clone().add_(1).tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_views_of_other_tensors_made_inside(torch):
    a = torch.ones(4)
    with torch.inference_mode():
        v = a.view(2, 2)
        v.add_(1)
        assert not v.is_inference() and v._version == a._version == 1
        assert a.clone().is_inference() and a.new_zeros(2).is_inference() and not a.detach().is_inference()


def test_as_a_decorator(torch):
    on = torch.is_inference_mode_enabled

    @torch.inference_mode()
    def f():
        return on()

    @torch.inference_mode
    def g():
        """doc"""
        return on()

    @torch.inference_mode(mode=False)
    def h():
        return on()

    @torch.inference_mode()
    def steps():
        yield on()
        yield on()

    assert f() and g() and not h() and list(steps()) == [True, True] and not on() and g.__doc__ == "doc"
    with torch.inference_mode():
        assert not h()
    assert torch.inference_mode(False).clone().mode is False


def test_the_graph_from_outside_goes_backward_inside(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    with torch.inference_mode():
        y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("inside", [True, False])
def test_views_of_inference_tensors_are_inference_tensors_that_nothing_is_recorded_of(torch, inside):
    with torch.inference_mode():
        x = torch.ones(2, 3, requires_grad=True)
    assert x.requires_grad and x.is_leaf
    for view in (lambda: x.view(-1), lambda: x.t(), lambda: x[0], lambda: x.split(1)[1], lambda: x.unbind()[0]):
        with torch.inference_mode(inside):
            found = view()
        assert found.is_inference() and not found.requires_grad and found.is_leaf and found.grad_fn is None
        assert not found._is_view() and not found[0].requires_grad
    assert (x * 2).requires_grad  # only views are leaves


def test_sizes_of_inference_tensors_change_in_inference_mode_only(torch):
    for needs in (True, False):
        with torch.inference_mode():
            x = torch.ones(2, 3, requires_grad=needs)
            x.resize_(1, 2)
            assert x.shape == (1, 2) and x.requires_grad is needs and x.is_inference()
            x.resize_as_(torch.ones(3))
            x.resize_(2, 1).transpose_(0, 1)
            assert x.shape == (1, 2) and x.is_inference()
        for change in (lambda x: x.resize_(3), lambda x: x.transpose_(0, 1), lambda x: x.squeeze_(0)):
            with torch.inference_mode():
                x = torch.ones(1, 2, requires_grad=needs)
            with pytest.raises(RuntimeError, match="outside InferenceMode"):
                change(x)
