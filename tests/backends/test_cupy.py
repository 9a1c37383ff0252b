"""Tensors on `cuda`, with a stand-in for CuPy: copies, streams, memory, training. `make test-gpu` runs real ones."""

from __future__ import annotations

import gc
import warnings

import numpy as np
import pytest
from tests.fake_cupy import device as fake
from tests.fake_cupy import missing_names, on_cuda

import gradpack as torch
import gradpack.nn.functional as F
from gradpack import saved
from gradpack.backends import cupy_loading


@pytest.fixture
def cupy():
    with on_cuda() as module:
        yield module


def model_of(where):
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(48, 4)
    ).to(where)


def train(where, make=torch.optim.AdamW, policy=None, low=None):
    """The losses of three steps."""
    model = model_of(where)
    optimizer = make(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(where, enabled=low is not None)
    x, y = torch.randn(5, 1, 6, 6).to(where), torch.tensor([0, 1, 2, 3, 0], device=where)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast(where, dtype=low or torch.bfloat16, enabled=low is not None):
            with saved.bypass() if policy is None else policy:
                loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert {p.device.type for p in model.parameters()} == {torch.device(where).type}
    return losses


def test_the_stand_in_has_no_names_of_its_own():
    assert not missing_names()


@pytest.mark.parametrize("make", [torch.optim.SGD, torch.optim.AdamW, torch.optim.RMSprop], ids=lambda m: m.__name__)
def test_training_is_that_of_the_cpu(cupy, make):
    assert train("cuda", make) == train("cpu", make)


@pytest.mark.parametrize("low", [torch.bfloat16, torch.float16], ids=str)
def test_autocast_and_scaled_gradients(cupy, low):
    assert train("cuda", low=low) == train("cpu", low=low)


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
    ids=repr,
)
def test_exact_policies_change_no_number(cupy, policy):
    assert train("cuda", policy=policy) == train("cpu")


def test_quantized_saved_tensors_on_the_host(cupy):
    found = train("cuda", policy=saved.cpu(0) >> saved.quantize(8, min_bytes=0))
    assert found != train("cpu")
    np.testing.assert_allclose(found, train("cpu"), rtol=0.01)


def test_nothing_of_the_training_is_computed_on_the_host(cupy):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train("cuda")
    assert cupy_loading.loaded().on_host == {}


def test_what_cupy_refuses_is_computed_on_the_host_and_said_once(cupy):
    x = torch.eye(3, device="cuda") + 1
    with pytest.warns(UserWarning, match=r"lu_factor is computed on the host, .* because CuPy refuses it: TypeError"):
        found = torch.linalg.lu_factor(x)
    assert found[0].device.type == "cuda"
    torch.linalg.lu_factor(x)
    assert cupy_loading.loaded().on_host == {"lu_factor": 2}
    np.testing.assert_allclose(found[0].cpu().numpy(), torch.linalg.lu_factor(x.cpu())[0].numpy())


def test_errors_are_those_of_the_cpu(cupy):
    def told(where):
        for wrong in (
            lambda: torch.ones(2, 3, device=where) @ torch.ones(2, 3, device=where),
            lambda: torch.linalg.inv(torch.zeros(2, 2, device=where)),
            lambda: torch.linalg.cholesky(-torch.eye(2, device=where)),
            lambda: torch.ones(2, device=where).reshape(3),
            lambda: torch.ones(2, device=where) + torch.ones(3, device=where),
        ):
            with pytest.raises(RuntimeError) as raised:
                wrong()
            yield type(raised.value), str(raised.value)

    assert list(told("cuda")) == list(told("cpu"))


def test_creators_and_copies(cupy):
    x = torch.arange(6.0).reshape(2, 3).t()
    there = x.cuda()
    assert there.device == torch.device("cuda:0") and there.is_cuda and there.stride() == (1, 3)
    assert there.cuda() is there and there.to("cuda:0") is there and torch.equal(there.cpu(), x)
    assert there.to("cuda:0", torch.float64).dtype is torch.float64
    assert [torch.zeros(2, device="cuda").device.index, torch.full((2,), 1, device="cuda:1").device.index] == [0, 1]
    for made in (
        torch.ones_like(there),
        torch.rand(2, device="cuda"),
        torch.arange(3, device="cuda"),
        there.new_ones(2),
    ):
        assert made.device == torch.device("cuda:0")
    assert torch.as_tensor(np.ones(2), device="cuda").device.type == "cuda"
    with torch.device("cuda"):
        assert torch.ones(2).device.type == "cuda" and torch.nn.Linear(2, 2).weight.is_cuda
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        there.numpy()
    x.requires_grad_()
    (x.cuda() * 2).cpu().sum().backward()
    assert x.grad.device.type == "cpu" and x.grad.sum() == 12


@pytest.mark.parametrize("d", ["bool", "uint8", "int64", "float16", "bfloat16", "float64", "complex64"])
def test_dtypes(cupy, d):
    x = torch.tensor([0, 1, 2], device="cuda").to(getattr(torch, d))
    assert x.dtype is getattr(torch, d) and x.tolist() == torch.tensor([0, 1, 2]).to(x.dtype).tolist()
    assert (x + x).cpu().tolist() == (x.cpu() + x.cpu()).tolist() and (x + x).dtype is x.dtype


def test_low_precision_is_computed_in_float32_and_rounded_once(cupy):
    x = torch.ones(10_000, dtype=torch.bfloat16, device="cuda")
    assert x.sum().item() == 9984  # the nearest bfloat16; adding up in bfloat16 stops at 256


def test_two_devices(cupy):
    x, y = torch.ones(3, device="cuda:1"), torch.ones(3, device="cuda:0")
    assert (x * 2).device.index == 1 and torch.cuda.current_device() == 0
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x + y
    assert (x.to("cuda:0") + y).tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.ones(1, device="cuda:2")
    with torch.cuda.device(1):
        assert torch.ones(2, device="cuda").device.index == 1 and torch.cuda.current_device() == 1
    assert torch.zeros_like(x).device.index == 1 and y.copy_(x * 5).tolist() == [5] * 3
    x.requires_grad_()
    (x.cuda(0) * y).sum().backward()
    assert x.grad.device.index == 1


def test_memory_comes_back_by_counting_references_alone(cupy):
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    gc.disable()
    try:
        w = torch.ones(1000, device="cuda", requires_grad=True)
        assert torch.cuda.memory_allocated() - before == 4096
        (w * w).sin().sum().backward()
        del w
        assert torch.cuda.memory_allocated() == before
    finally:
        gc.enable()
    assert torch.cuda.max_memory_allocated() - before >= 4 * 4096
    assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == torch.cuda.memory_allocated()


def test_out_of_memory():
    with on_cuda(capacity=1 << 20):
        with pytest.raises(torch.OutOfMemoryError, match="CUDA out of memory"):
            torch.zeros(1 << 20, device="cuda")
        x = torch.zeros(1 << 17, device="cuda")
        with pytest.raises(torch.cuda.OutOfMemoryError):
            x.double()


def test_copies_beside_the_host_are_there_when_they_are_waited_for(cupy):
    x = torch.arange(4.0).pin_memory()
    assert x.is_pinned() and not torch.ones(2).is_pinned() and x.pin_memory() is x
    there = x.to("cuda", non_blocking=True)
    assert (there * 2).tolist() == [0, 2, 4, 6], "a kernel of the same stream comes after the copy"
    back = there.to("cpu", non_blocking=True)
    back._data[:] = -1
    assert back.tolist() == [-1] * 4, "nobody has waited yet"
    torch.cuda.synchronize()
    assert back.tolist() == [0, 1, 2, 3] and back.is_pinned()


def test_streams_and_events(cupy):
    main, side = torch.cuda.current_stream(), torch.cuda.Stream()
    assert main == torch.cuda.default_stream() and side != main and side.query()
    x = torch.arange(4.0).pin_memory().to("cuda", non_blocking=True)
    side.wait_stream(main)
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side
        y = x * 2
    done = side.record_event()
    main.wait_event(done)
    assert (y + x).tolist() == [0, 3, 6, 9] and torch.cuda.current_stream() == main
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    x.sin()
    end.record()
    end.synchronize()
    assert start.query() and start.elapsed_time(end) >= 0
    with pytest.raises(ValueError, match="enable_timing=True"):
        done.elapsed_time(end)
    with side:
        assert torch.cuda.current_stream() == side


def test_the_streams_that_policies_copy_through(cupy):
    streams = cupy_loading.loaded().streams(torch.device("cuda:0"))
    assert cupy_loading.loaded().streams(torch.device("cuda")) is streams and streams.staging is None
    x = torch.arange(12.0, device="cuda").reshape(3, 4).t()
    out, back, main = streams.new(), streams.new(), streams.current()
    host = streams.pinned(x.nbytes)
    host[:] = 0
    streams.wait(out, streams.record(main))
    streams.to_host(x._data, host, out)
    copied = streams.record(out)
    assert not streams.passed(copied) and not host.any()
    whole = streams.empty(x.nbytes, main)
    streams.wait(back, streams.record(main))
    streams.wait(back, copied)
    streams.to_device(host, whole, back)
    streams.hold(whole, main, streams.record(back))
    again = streams.shown(whole, 4, (3, 3), (4, 16), np.dtype(np.float32))
    assert (again + 0).tolist() == [[1, 5, 9], [2, 6, 10], [3, 7, 11]]
    streams.synchronize(copied)
    assert streams.passed(copied) and host.view(np.float32).tolist() == list(range(12))
    with pytest.raises(ValueError, match="an array with gaps is not one piece of memory"):
        streams.to_host(x._data[:2], np.empty(24, np.uint8), main)


def test_random_numbers_are_drawn_there_and_follow_the_one_generator(cupy):
    def drawn():
        yield torch.rand(3, device="cuda")
        yield torch.randn(3, device="cuda:1")
        yield torch.randint(9, (3,), device="cuda")
        yield torch.randperm(5, device="cuda")
        yield torch.empty(3, device="cuda").normal_()
        yield F.dropout(torch.ones(9, device="cuda"), 0.5)
        yield torch.rand_like(torch.ones(3, device="cuda"))
        yield torch.bernoulli(torch.full((9,), 0.5, device="cuda"))

    torch.manual_seed(1)
    first = list(drawn())
    state = torch.cuda.get_rng_state()
    second = list(drawn())
    torch.cuda.set_rng_state(state)
    copies = fake.State.copies["h2d"]
    for a, b in zip(second, drawn(), strict=True):
        assert a.is_cuda and torch.equal(a, b)
    assert fake.State.copies["h2d"] - copies == 1, "of what bernoulli draws on the host"
    torch.cuda.manual_seed(1)
    assert all(torch.equal(a, b) for a, b in zip(first, drawn(), strict=True))
    assert not torch.equal(first[0], second[0])


def test_checkpointing_draws_the_same_numbers_again(cupy):
    x = torch.ones(100, device="cuda", requires_grad=True)
    torch.manual_seed(0)
    out = torch.utils.checkpoint.checkpoint(lambda t: F.dropout(t, 0.5) * 3, x, use_reentrant=False)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())


def test_sharing_memory_with_other_libraries(cupy):
    array = cupy.arange(4, dtype="float32")
    x = torch.as_tensor(array)
    x += 1
    assert x.is_cuda and array.get().tolist() == [1, 2, 3, 4]
    assert x.__cuda_array_interface__["data"][0] == array.data.ptr == x.data_ptr()
    assert x.__dlpack_device__() == (2, 0)
    assert torch.from_dlpack(x).tolist() == [1, 2, 3, 4] and torch.from_dlpack(x).is_cuda
    with pytest.raises(BufferError, match="require gradient"):
        torch.ones(1, device="cuda", requires_grad=True).__dlpack__()
    with pytest.raises(RuntimeError, match="on Variable that requires grad"):
        torch.ones(1, device="cuda", requires_grad=True).__cuda_array_interface__
    with pytest.raises(AttributeError, match="on non-CUDA tensor type"):
        torch.ones(1).__cuda_array_interface__


def test_hooks_views_and_the_in_place_check(cupy):
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


def test_a_number_on_the_host_beside_tensors_of_a_device(cupy):
    x = torch.ones(2, device="cuda")
    assert (x + torch.tensor(2.0)).tolist() == [3, 3] and (x + torch.tensor(2.0)).is_cuda


def test_printing_and_state_dicts(cupy):
    assert repr(torch.ones(2, device="cuda")) == "tensor([1., 1.], device='cuda:0')"
    source, target = model_of("cuda"), model_of("cpu")
    target.load_state_dict(source.state_dict())
    assert all(torch.equal(a.cpu(), b) for a, b in zip(source.parameters(), target.parameters(), strict=True))
