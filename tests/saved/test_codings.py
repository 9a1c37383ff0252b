"""What each coding keeps, and how exactly."""

import sys

import numpy as np
import pytest

import gradpack as torch
from gradpack import saved


def there_and_back(policy, x):
    return policy.unpack(policy.pack(x))


def drawn(make, x, times):
    return torch.stack([there_and_back(make(seed), x) for seed in range(times)])


@pytest.mark.parametrize("group", [4, 64, 256])
@pytest.mark.parametrize("bits", [8, 4, 2])
def test_the_error_of_quantisation_is_below_a_step_and_its_mean_is_zero(bits, group):
    torch.manual_seed(0)
    x = torch.randn(3001)
    many = drawn(lambda seed: saved.quantize(bits, group, seed=seed, min_bytes=0), x, 64)
    step = float(x.max() - x.min()) / (2**bits - 2)
    assert float((many - x).abs().max()) <= step
    one = float((many[0] - x).norm())
    assert float((many.mean(0) - x).norm()) < 0.2 * one


def gradients(policy):
    torch.manual_seed(1)
    x = torch.randn(60, 70, requires_grad=True)
    with policy:
        y = (x * x.detach().sin()).sum() + x.sin().sum()
    y.backward()
    return x.grad


@pytest.mark.parametrize("bits", [8, 4, 2])
def test_gradients_are_unbiased_and_the_seed_decides(bits):
    def make(seed):
        return saved.quantize(bits, seed=seed, min_bytes=0).where(op="mul")

    exact = gradients(saved.Policy())
    many = torch.stack([gradients(make(seed)) for seed in range(32)])
    one = float((many[0] - exact).norm())
    assert float((many.mean(0) - exact).norm()) < 0.3 * one
    assert torch.equal(gradients(make(3)), many[3])
    assert not torch.equal(many[0], many[1])


def test_subtracting_the_noise_makes_the_error_that_of_rounding_to_the_nearest():
    exact = gradients(saved.Policy())

    def error(**options):
        return float((gradients(saved.quantize(4, min_bytes=0, **options).where(op="mul")) - exact).norm())

    assert error() < 1.15 * error(stochastic=False)


def test_quantisation_takes_the_bytes_it_says():
    x = torch.randn(1 << 16)
    for bits, group in ((8, 256), (4, 64), (2, 32)):
        policy = saved.quantize(bits)
        kept = policy.pack(x)
        policy.wait()
        assert policy.packed_bytes == (1 << 16) * bits // 8 + (1 << 16) // group * 4
        assert kept is not x


def test_groups_of_equal_values_and_infinite_ones():
    for value in (0.0, 7.0, -3.5):
        x = torch.full((1000,), value)
        assert torch.allclose(there_and_back(saved.quantize(8), x), x, rtol=0.005)
    assert torch.equal(there_and_back(saved.quantize(8, min_bytes=0), torch.zeros(0)), torch.zeros(0))


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_a_tensor_with_what_has_no_scale_stays_exact(value):
    x = torch.randn(3000)
    x[7], x[8] = value, -value
    policy = saved.quantize(8)
    np.testing.assert_array_equal(there_and_back(policy, x).numpy(), x.numpy())


def test_quantise_refuses_what_it_cannot():
    for arguments in ({"bits": 3}, {"group": 6}, {"group": 0}, {"min_bytes": -1}, {"bits": 8.5}):
        with pytest.raises(ValueError, match="quantize"):
            saved.quantize(**arguments)


@pytest.mark.parametrize(("make", "bits"), [(saved.bf16, 8), (saved.fp16, 11), (saved.fp8, 4)])
def test_casts_round_to_the_nearest(make, bits):
    x = torch.linspace(0.1, 100, 5000)
    back = there_and_back(make(min_bytes=0), x)
    relative = ((back - x).abs() / x)[x > 1]
    assert float(relative.max()) <= 2.0**-bits * 1.01
    assert there_and_back(make(min_bytes=0), torch.zeros(10)).abs().max() == 0
    assert repr(make()) == f"{make.__name__}()"


def test_eight_bits_of_range():
    x = torch.linspace(0.1, 100, 5000)
    assert float(((there_and_back(saved.fp8("e5m2", min_bytes=0), x) - x).abs() / x).max()) <= 0.13
    with pytest.raises(ValueError, match="e4m3"):
        saved.fp8("e3m4")


def test_small_tensors_stay():
    x = torch.ones(100)
    assert saved.bf16(min_bytes=401).pack(x) is x
    assert saved.bf16(min_bytes=400).pack(x) is not x


MASKS = {
    "bool": torch.arange(1000) % 3 == 0,
    "0 and 1": (torch.arange(1000) % 3 == 0).float(),
    "0 and 2.5": (torch.arange(1000) % 3 == 0).float() * 2.5,
    "0 and -1": -(torch.arange(1000) % 3 == 0).long(),
    "zeros": torch.zeros(1000),
    "inf": torch.where(torch.arange(1000) % 3 == 0, float("-inf"), 0.0),
}
NO_MASKS = {
    "three values": torch.arange(1000) % 3,
    "late": torch.cat([torch.zeros(999), torch.tensor([1.0])]) + torch.cat([torch.ones(1), torch.zeros(999)]) * 2,
    "nan": torch.where(torch.arange(1000) % 3 == 0, float("nan"), 0.0),
    "minus zero": torch.zeros(1000) * -1,
}


@pytest.mark.parametrize("x", MASKS.values(), ids=MASKS)
def test_masks_take_a_bit(x):
    policy = saved.mask()
    kept = policy.pack(x)
    assert policy.packed_bytes == 125
    assert torch.equal(policy.unpack(kept), x)


@pytest.mark.parametrize("x", NO_MASKS.values(), ids=NO_MASKS)
def test_what_is_no_mask_stays(x):
    policy = saved.mask()
    back = there_and_back(policy, x)
    np.testing.assert_array_equal(back.numpy(), x.numpy())
    assert torch.equal(back.signbit(), x.signbit())


CODECS = ["zlib", "blosc2", "pcodec", "zstandard"]


@pytest.mark.parametrize("codec", CODECS)
def test_codecs_are_exact_and_smaller(codec):
    pytest.importorskip(codec)
    torch.manual_seed(0)
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool):
        policy = saved.lossless(codec, min_bytes=0)
        x = (torch.randn(20_000).relu() * 3).to(dtype)
        kept = policy.pack(x)
        assert torch.equal(policy.unpack(kept), x)
        assert policy.packed_bytes <= x.nbytes
        if dtype is torch.float32:
            assert policy.packed_bytes < 0.8 * x.nbytes


def test_codecs_that_are_not_there(monkeypatch):
    with pytest.raises(ValueError, match="'blosc2', 'pcodec'"):
        saved.lossless("rar")

    def absent(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(sys.modules["gradpack.saved.policies.compress"], "import_module", absent)
    with pytest.raises(ImportError, match=r"pip install 'gradpack\[compress\]'"):
        saved.lossless("blosc2")


def test_on_the_cpu_nothing_is_copied():
    policy, x = saved.cpu(), torch.randn(5000, requires_grad=True)
    with policy:
        h = x * 1
        y = h.sin().sum()
    assert policy.packed_bytes == 0
    h.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_names_let_the_policy_choose_again():
    x = torch.randn(1000, requires_grad=True)
    with saved.bf16().where(name="h1") as policy:
        h = x.exp()
        assert policy.packed_bytes == 0
        saved.name(h, "h1")
        assert policy.packed_bytes == 2000
        y = h.sin().sum()
    assert policy.packed_bytes == 2000
    y.backward()
    with pytest.raises(TypeError, match="must be Tensor"):
        saved.name(3, "h1")
