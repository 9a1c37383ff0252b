"""The reentrant form of checkpointing, several segments, and the small parts."""

from __future__ import annotations

import warnings

import pytest

from tests.behaviour.utils.test_checkpoint_rules import leaf


def test_reentrant_restrictions(torch, checkpointing, checkpoint):
    x = leaf(torch)
    y = checkpoint(lambda x: x.sin(), x, use_reentrant=True).sum()
    for call in (lambda: torch.autograd.grad(y, x), lambda: y.backward(inputs=[x])):
        with pytest.raises(RuntimeError, match=r"incompatible with .grad\(\) or passing an `inputs` parameter"):
            call()
    with pytest.raises(ValueError, match="Unexpected keyword arguments: foo"):
        checkpoint(lambda x: x, x, use_reentrant=True, foo=1)
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        checkpoint(lambda x: x, x, use_reentrant=True, debug=True)
    y = checkpoint(lambda x: x.detach().sin(), x, use_reentrant=True).sum()
    with pytest.raises(RuntimeError, match=r"none of output has requires_grad=True, this checkpoint\(\) is not"):
        y.backward()
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(lambda x: x.sin(), x.detach(), use_reentrant=True)


def test_missing_use_reentrant_warns(torch, checkpointing):
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        y = checkpointing.checkpoint(torch.sin, leaf(torch))
    assert y.grad_fn.name() == "CheckpointFunctionBackward"
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        checkpointing.checkpoint_sequential([torch.sin], 1, leaf(torch))


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("outer", [False, True])
def test_forms_in_each_other(torch, checkpoint, outer, inner):
    x = leaf(torch)
    y = checkpoint(lambda x: checkpoint(torch.sin, x, use_reentrant=inner) * x, x, use_reentrant=outer)
    y.sum().backward()
    found, x.grad = x.grad.clone(), None
    (x.sin() * x).sum().backward()
    assert torch.allclose(found, x.grad)


def test_reentrant_outputs(torch, checkpoint):
    x = leaf(torch)
    a, nothing, b = checkpoint(lambda x: (x.sin(), None, x * 2), x, use_reentrant=True)
    (a + b).sum().backward()
    assert nothing is None and torch.allclose(x.grad, x.detach().cos() + 2)


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("segments", [1, 2, 3, 5])
def test_sequential(torch, checkpointing, segments, reentrant):
    nn = torch.nn
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = torch.ones(2, 2, requires_grad=True)
    checkpointing.checkpoint_sequential(model, segments, x, use_reentrant=reentrant).sum().backward()
    found = [p.grad.clone() for p in (x, *model.parameters())]
    for p in (x, *model.parameters()):
        p.grad = None
    model(x).sum().backward()
    assert all(torch.allclose(f, p.grad) for f, p in zip(found, (x, *model.parameters()), strict=True))
    with pytest.raises(ValueError, match="Unexpected keyword arguments: foo"):
        checkpointing.checkpoint_sequential(model, segments, x, use_reentrant=reentrant, foo=1)


def test_parts(torch, checkpointing):
    x = leaf(torch)
    detached = checkpointing.detach_variable((x, x * 2, 3))
    assert [getattr(t, "requires_grad", t) for t in detached] == [True, True, 3]
    assert all(t.is_leaf for t in detached[:2]) and detached[0] is not x
    with pytest.raises(RuntimeError, match=r"Only tuple of tensors is supported. Got Unsupported input type: list"):
        checkpointing.detach_variable([x])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checkpointing.check_backward_validity([x])
    with pytest.warns(UserWarning, match="None of the inputs"):
        checkpointing.check_backward_validity([x.detach(), 1])
    assert checkpointing.get_device_states(x) == ([], [])
    checkpointing.set_device_states([], [])
    checkpointing.DefaultDeviceType.set_device_type("xpu")
    assert checkpointing.DefaultDeviceType.get_device_type() == "xpu"
    checkpointing.DefaultDeviceType.set_device_type("cpu")
    checkpointing.CheckpointFunction.apply(torch.sin, True, x).sum().backward()
    assert torch.allclose(x.grad, x.detach().cos())
    assert {p.name: p.value for p in checkpointing.CheckpointPolicy}["PREFER_RECOMPUTE"] == 3
