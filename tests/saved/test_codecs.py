import gc
import weakref

import pytest

import gradpack as torch
from gradpack.backends.memory_layout import owner_of
from gradpack.saved import bfloat16

hooks = torch.autograd.graph.saved_tensors_hooks


def test_float32_is_kept_in_half_the_bytes_and_rounded_to_nearest():
    pack, unpack = bfloat16(at_least=0)
    x = torch.tensor([1.0, 1.0 + 2**-8, 1.0 + 3 * 2**-8, -3.14159, 1e38, 1e-38, 0.0, -0.0])
    packed = pack(x)
    assert sum(t.nbytes for t in packed) == x.nbytes // 2
    back = unpack(packed)
    assert back.dtype is torch.float32
    # halfway cases go to the even neighbour
    assert back.tolist()[:4] == [1.0, 1.0, 1.0 + 2 * 2**-7, -3.140625]
    assert bool(((back - x).abs() <= x.abs() * 2**-8).all())


def test_what_bfloat16_can_hold_comes_back_exactly():
    pack, unpack = bfloat16(at_least=0)
    x = torch.tensor([float("inf"), float("-inf"), 0.5, 256.0, -96.0])
    assert unpack(pack(x)).tolist() == x.tolist()
    assert unpack(pack(torch.tensor([float("nan")]))).isnan().all()


@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float64, torch.complex64]
)
def test_other_dtypes_are_left_alone(dtype):
    pack, unpack = bfloat16(at_least=0)
    x = torch.ones(5, dtype=dtype)
    assert pack(x) is x
    assert unpack(x) is x


def test_small_tensors_are_left_alone():
    pack, unpack = bfloat16()
    small, large = torch.ones(16383), torch.ones(16384)
    assert pack(small) is small
    assert unpack(small) is small
    assert pack(large) is not large


def test_parameters_are_left_alone_under_any_view():
    weight = torch.randn(4, 6)
    pack, _ = bfloat16([weight], at_least=0)
    for view in (weight, weight.detach(), weight.t(), weight[1:, ::2], weight.reshape(-1)):
        assert pack(view) is view
    copy = weight.clone()
    assert pack(copy) is not copy


def test_another_array_at_the_address_of_a_dead_parameter_is_packed():
    pack, _ = bfloat16([torch.randn(1000)], at_least=0)
    for _ in range(20):  # the allocator hands the same memory out again
        x = torch.randn(1000)
        assert pack(x) is not x


def test_the_same_values_are_packed_once_while_anyone_keeps_them():
    pack, _ = bfloat16(at_least=0)
    x = torch.randn(3, 4)
    first = pack(x)
    assert pack(x.detach())[0] is first[0]
    assert pack(x.t())[0] is not first[0]
    low = weakref.ref(first[0])
    del first
    assert low() is None
    assert pack(x)[0].shape == (3, 4)


def test_values_changed_in_place_are_packed_again():
    pack, unpack = bfloat16(at_least=0)
    x = torch.ones(3)
    first = pack(x)
    x.add_(1)
    second = pack(x)
    assert unpack(first).tolist() == [1, 1, 1]
    assert unpack(second).tolist() == [2, 2, 2]


def test_new_arrays_at_old_addresses_are_never_mistaken_for_old_ones():
    pack, unpack = bfloat16(at_least=0)
    kept = []
    for i in range(200):
        x = torch.full((1000,), float(i % 100))
        kept.append((i % 100, pack(x)))
        del x  # its memory is free for the next one, what it was packed to lives on
    assert all(unpack(packed)[0].item() == value for value, packed in kept)


def test_gradients_are_those_of_the_rounded_values():
    torch.manual_seed(0)
    x, w = torch.randn(8, 5, requires_grad=True), torch.randn(5, 3, requires_grad=True)
    with hooks(*bfloat16([w], at_least=0)):
        y = (x @ w).sum()
    y.backward()
    rounded = x.detach().to(torch.bfloat16).to(torch.float32)
    assert torch.allclose(w.grad, rounded.t() @ torch.ones(8, 3), rtol=1e-6)
    assert not torch.equal(w.grad, x.detach().t() @ torch.ones(8, 3))
    assert torch.allclose(x.grad, torch.ones(8, 3) @ w.detach().t())  # w was a parameter: exact


def test_the_full_precision_original_is_freed_without_the_garbage_collector():
    gc.collect()
    gc.disable()
    try:
        x = torch.randn(100, requires_grad=True)
        with hooks(*bfloat16(at_least=0)):
            y = x.exp()
            original = weakref.ref(owner_of(y._data))
            y = y.sum()
        assert original() is None
        y.backward()
    finally:
        gc.enable()
    assert torch.allclose(x.grad, x.detach().exp(), rtol=2**-8)
