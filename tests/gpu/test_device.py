"""Tensors on `cuda`: creating, copying, streams, memory, random numbers, and sharing with other libraries."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import gradpack as torch
import gradpack.nn.functional as F


def test_errors_are_those_of_the_cpu():
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


def test_creators_and_copies():
    x = torch.arange(6.0).reshape(2, 3).t()
    there = x.cuda()
    assert there.device == torch.device("cuda:0") and there.is_cuda and there.stride() == (1, 3)
    assert there.cuda() is there and there.to("cuda:0") is there and torch.equal(there.cpu(), x)
    assert there.to("cuda:0", torch.float64).dtype is torch.float64
    assert [torch.zeros(2, device="cuda").device.index, torch.full((2,), 1, device="cuda:0").device.index] == [0, 0]
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
def test_dtypes(d):
    x = torch.tensor([0, 1, 2], device="cuda").to(getattr(torch, d))
    assert x.dtype is getattr(torch, d) and x.tolist() == torch.tensor([0, 1, 2]).to(x.dtype).tolist()
    assert (x + x).cpu().tolist() == (x.cpu() + x.cpu()).tolist() and (x + x).dtype is x.dtype


def test_low_precision_is_computed_in_float32_and_rounded_once():
    x = torch.ones(10_000, dtype=torch.bfloat16, device="cuda")
    assert x.sum().item() == 9984  # the nearest bfloat16; adding up in bfloat16 stops at 256


def test_memory_comes_back_by_counting_references_alone():
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


def test_streams_and_events():
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


def test_random_numbers_are_drawn_there_and_follow_the_one_generator():
    def drawn():
        yield torch.rand(3, device="cuda")
        yield torch.randn(3, device="cuda:0")
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
    for a, b in zip(second, drawn(), strict=True):
        assert a.is_cuda and torch.equal(a, b)
    torch.cuda.manual_seed(1)
    assert all(torch.equal(a, b) for a, b in zip(first, drawn(), strict=True))
    assert not torch.equal(first[0], second[0])


def test_a_number_on_the_host_beside_tensors_of_a_device():
    x = torch.ones(2, device="cuda")
    assert (x + torch.tensor(2.0)).tolist() == [3, 3] and (x + torch.tensor(2.0)).is_cuda


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


def test_what_is_known_of_a_device():
    count = torch.cuda.device_count()
    assert torch.cuda.is_available() and count > 0 and torch.cuda.is_initialized()
    assert torch.accelerator.is_available() and torch.accelerator.current_accelerator() == torch.device("cuda")
    assert torch.accelerator.device_count() == count and torch.accelerator.current_device_index() == 0
    found = torch.cuda.get_device_properties(0)
    assert found.name == torch.cuda.get_device_name("cuda:0") and found.total_memory > 0
    major, minor = torch.cuda.get_device_capability()
    assert f"sm_{major}{minor}" in torch.cuda.get_arch_list()
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total == found.total_memory
    assert torch.cuda.is_bf16_supported() and not torch.cuda.can_device_access_peer(0, 0)
    assert torch.device(0) == torch.device("cuda:0")
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        torch.cuda.synchronize("cpu")
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.set_device(count)
    x = torch.ones(1000, device="cuda")
    stats = torch.cuda.memory_stats()
    assert stats["allocated_bytes.all.current"] == torch.cuda.memory_allocated() >= x.nbytes
    assert "allocated_bytes.all.current" in torch.cuda.memory_summary()


def test_indices_and_values_on_the_host(cupy):
    x = torch.arange(6.0, device="cuda").reshape(3, 2).requires_grad_()
    order = torch.tensor([2, 0])
    for index in (order, [2, 0], (order, 1), (slice(None), [1, 0]), x.detach().cpu()[:, 0] > 1):
        assert x[index].is_cuda and torch.equal(x[index].cpu(), x.cpu()[index])
    x[order].sum().backward()
    assert x.grad.tolist() == [[1, 1], [0, 0], [1, 1]]
    y = torch.zeros(3, 2, device="cuda")
    y[order] = 1.0
    y[1] = torch.tensor([5.0, 6.0])
    y[[0], [1]] = torch.tensor(7.0, device="cuda")
    assert y.tolist() == [[1, 7], [5, 6], [1, 1]]
