"""`torch.amp.GradScaler`, on the CPU."""

from __future__ import annotations

import pytest


@pytest.fixture
def parts(torch):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    return w, torch.optim.SGD([w], lr=0.5), torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)


def test_a_step_is_that_of_the_loss_itself(torch, parts):
    w, optimizer, scaler = parts
    loss = scaler.scale((w * torch.tensor([1.0, 3.0])).sum())
    assert loss.item() == 56 and scaler.get_scale() == 8.0
    loss.backward()
    assert w.grad.tolist() == [8.0, 24.0]
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.5, 0.5] and w.grad.tolist() == [1.0, 3.0]


def test_it_falls_after_an_overflow_and_rises_after_a_while(torch, parts):
    w, optimizer, scaler = parts
    found = []
    for gradient in (float("inf"), 1.0, 1.0, 1.0, float("nan"), 1.0):
        w.grad = torch.full((2,), gradient)
        before = w.tolist()
        scaler.scale(torch.ones(()))
        scaler.step(optimizer)
        scaler.update()
        found.append((scaler.get_scale(), w.tolist() == before, scaler.state_dict()["_growth_tracker"]))
    assert found == [(4, True, 0), (4, False, 1), (8, False, 0), (8, False, 1), (4, True, 0), (4, False, 1)]


def test_gradients_may_be_unscaled_before_the_step(torch, parts):
    w, optimizer, scaler = parts
    scaler.scale(w.sum()).backward()
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [1.0, 1.0]
    torch.nn.utils.clip_grad_norm_([w], 0.5)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) has already been called on this optimizer"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step\(\)"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called since the last update\(\)"):
        scaler.step(optimizer)
    scaler.update()
    assert w[0].item() == pytest.approx(1 - 0.25 / 2**0.5)


def test_what_is_refused(torch, parts):
    w, optimizer, scaler = parts
    scaler.scale(torch.ones(()))
    with pytest.raises(AssertionError, match="No inf checks were recorded for this optimizer"):
        scaler.step(optimizer)
    w.grad = torch.ones(2)
    with pytest.raises(RuntimeError, match="Closure use is not currently supported if GradScaler is enabled"):
        scaler.step(optimizer, closure=lambda: 1)
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
        scaler.update()
    with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
        scaler.scale(3)
    with pytest.raises(AssertionError, match=r"The growth factor must be > 1\.0"):
        torch.amp.GradScaler("cpu", growth_factor=1.0)
    with pytest.raises(AssertionError, match=r"The backoff factor must be < 1\.0"):
        torch.amp.GradScaler("cpu", backoff_factor=1.0)
    low = torch.ones(2, dtype=torch.float16, requires_grad=True)
    other = torch.optim.SGD([low], lr=0.1)
    low.grad = torch.ones(2, dtype=torch.float16)
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(other)


def test_containers_dtypes_and_new_scales(torch, parts):
    _, _, scaler = parts
    a, (b,) = scaler.scale([torch.ones(2), (torch.ones(1, dtype=torch.float64),)])
    assert a.tolist() == [8.0, 8.0] and b.dtype == torch.float64
    assert scaler.scale(torch.ones(2, dtype=torch.float16)).dtype == torch.float16
    scaler.update(2.0)
    assert scaler.get_scale() == 2.0
    scaler.update(torch.tensor(4.0))
    assert scaler.get_scale() == 4.0


def test_state(torch, parts):
    _, _, scaler = parts
    scaler.scale(torch.ones(()))
    state = scaler.state_dict()
    assert state == {
        "scale": 8.0,
        "growth_factor": 2.0,
        "backoff_factor": 0.5,
        "growth_interval": 2,
        "_growth_tracker": 0,
    }
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict({**state, "scale": 16.0})
    assert other.get_scale() == 16.0 and other.get_growth_interval() == 2
    with pytest.raises(RuntimeError, match="The source state dict is empty"):
        other.load_state_dict({})
    other.set_growth_factor(3.0)
    other.set_backoff_factor(0.25)
    other.set_growth_interval(7)
    assert (other.get_growth_factor(), other.get_backoff_factor(), other.get_growth_interval()) == (3.0, 0.25, 7)


def test_one_that_is_not_enabled_hands_through(torch):
    w = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    assert not scaler.is_enabled() and scaler.get_scale() == 1.0 and scaler.state_dict() == {}
    loss = w.sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.item() == 0.5


def test_there_is_no_cuda(torch):
    assert torch.GradScaler is torch.amp.GradScaler
    with pytest.warns(UserWarning, match=r"torch\.cuda\.amp\.GradScaler is enabled, but CUDA is not available"):
        assert not torch.amp.GradScaler().is_enabled()
    assert not torch.amp.GradScaler("cuda", enabled=False).is_enabled()


def test_several_optimizers(torch, parts):
    w, optimizer, scaler = parts
    v = torch.ones(1, requires_grad=True)
    other = torch.optim.SGD([v], lr=1.0)
    scaler.scale(w.sum() + v.sum() * float("inf")).backward()
    scaler.step(optimizer)
    scaler.step(other)
    scaler.update()
    assert w.tolist() == [0.5, 1.5] and v.item() == 1.0 and scaler.get_scale() == 4.0
