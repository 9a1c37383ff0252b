"""Training on `cuda`: the numbers of the CPU, whatever keeps saved tensors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradpack as torch
import gradpack.nn.functional as F
from gradpack import saved
from gradpack.backends import cupy_loading
from tests.gpu.steps import model_of, train


def same(found, expected, real):
    """Equal, but for the rounding of sums: another order for few elements on the host, another device."""
    np.testing.assert_allclose(found, expected, rtol=2e-3 if real else 1e-6)


@pytest.mark.parametrize("make", [torch.optim.SGD, torch.optim.AdamW, torch.optim.RMSprop], ids=lambda m: m.__name__)
def test_training_is_that_of_the_cpu(make, real):
    same(train("cuda", make), train("cpu", make), real)


@pytest.mark.parametrize("low", [torch.bfloat16, torch.float16], ids=str)
def test_autocast_and_scaled_gradients(low, real):
    same(train("cuda", low=low), train("cpu", low=low), real)


@pytest.mark.parametrize(
    "policy",
    [
        saved.cpu(0),
        saved.cpu(0) >> saved.disk(),
        saved.keep(),
        saved.recompute(),
        torch.autograd.graph.save_on_cpu(),
        torch.autograd.graph.save_on_cpu(pin_memory=True),
    ],
    ids=["cpu", "cpu-disk", "keep", "recompute", "save_on_cpu", "save_on_cpu-pinned"],
)
def test_exact_policies_change_no_number(policy):
    np.testing.assert_allclose(train("cuda", policy=policy), train("cuda"), rtol=1e-5)


def test_quantized_saved_tensors_on_the_host():
    found = train("cuda", policy=saved.cpu(0) >> saved.quantize(8, min_bytes=0))
    assert found != train("cpu")
    np.testing.assert_allclose(found, train("cpu"), rtol=0.01)


def test_nothing_of_the_training_is_computed_on_the_host():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train("cuda")
    assert not set(cupy_loading.loaded().on_host) & {"convolution", "linear", "batch_norm", "cross_entropy_loss"}


def test_checkpointing_draws_the_same_numbers_again():
    x = torch.ones(100, device="cuda", requires_grad=True)
    torch.manual_seed(0)
    out = torch.utils.checkpoint.checkpoint(lambda t: F.dropout(t, 0.5) * 3, x, use_reentrant=False)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())


def test_hooks_views_and_the_in_place_check():
    x = torch.ones(4, device="cuda", requires_grad=True)
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.device) or t.cpu(), lambda t: t.cuda()):
        y = (x * 2).exp()
    y.sum().backward()
    assert packed == [torch.device("cuda:0")] * len(packed) and x.grad.is_cuda
    base = torch.zeros(2, 3, device="cuda")
    base[0].add_(1)
    base[:, 1:] *= 5
    assert base.tolist() == [[1, 5, 5], [0, 0, 0]] and base.t()._base is base
    h = x * 1
    z = h.sin()
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_printing_and_state_dicts():
    assert repr(torch.ones(2, device="cuda")) == "tensor([1., 1.], device='cuda:0')"
    source, target = model_of("cuda"), model_of("cpu")
    target.load_state_dict(source.state_dict())
    assert all(torch.equal(a.cpu(), b) for a, b in zip(source.parameters(), target.parameters(), strict=True))


def test_profiler_times_work_on_the_device():
    model, x = model_of("cuda"), torch.randn(5, 1, 6, 6, device="cuda")
    with torch.autograd.profiler.profile(use_device="cuda") as prof:
        model(x).sum().backward()
    averages = {event.key: event for event in prof.key_averages()}
    assert prof.use_device == "cuda"
    for name in ("aten::convolution", "ConvolutionBackward0", "aten::sum"):
        assert averages[name].device_time_total > 0, name
    for event in prof.function_events:
        assert event.self_device_time_total >= 0
        assert event.device_time_total >= sum(child.device_time_total for child in event.cpu_children) * 0.999
    assert "CUDA time" in prof.key_averages().table(sort_by="self_cuda_time_total")
