"""Infinite values, NaN, zeros with a sign, and numbers in the place of tensors."""

import math

import pytest

INF, NAN = math.inf, math.nan


def signs(torch, t):
    return torch.signbit(t).tolist()


def test_remainders_that_are_zero_have_the_sign_of_the_dividend(torch):
    a, b = torch.tensor([0.0, -0.0, 3.0, -3.0, -6.0]), torch.tensor([-3.0, 3.0, -3.0, 3.0, 4.0])
    for made in (torch.remainder(a, b), a % b, torch.remainder(a.double(), b), a.clone().remainder_(b)):
        assert made.tolist() == [0.0, 0.0, 0.0, 0.0, 2.0]
        assert signs(torch, made) == [False, True, False, True, False]
    many = torch.remainder(torch.tensor([6.0, -6.0]).repeat(40000), -3.0)
    assert signs(torch, many[:2]) == [False, True] and bool((many == 0).all())
    assert torch.remainder(torch.tensor([7, -7]), -3).tolist() == [-2, -1]


def test_parts_of_complex_numbers_are_kept_as_they_are(torch):
    real, imag = torch.tensor([1.0, INF, -0.0, NAN]), torch.tensor([INF, 2.0, -0.0, 1.0])
    made = torch.complex(real, imag)
    assert made.real[:3].tolist() == [1.0, INF, 0.0] and made.imag.tolist() == [INF, 2.0, 0.0, 1.0]
    assert math.isnan(made.real[3]) and signs(torch, made.real)[2] and signs(torch, made.imag)[2]
    whole = torch.polar(torch.tensor([-0.0, 2.0]), torch.tensor([-0.0, 0.0]))
    assert signs(torch, whole.real) == [True, False] and whole.imag.tolist() == [0.0, 0.0]
    x, y = (torch.tensor(v, requires_grad=True) for v in ([[1.0], [2.0]], [3.0, 4.0]))
    made = torch.complex(x, y)
    assert made.shape == (2, 2) and made.grad_fn.name() == "ComplexBackward0"
    made.backward(torch.full((2, 2), 2 + 3j))
    assert x.grad.tolist() == [[4.0], [4.0]] and y.grad.tolist() == [6.0, 6.0]


def test_logarithm_of_complex_numbers_near_one(torch):
    z = torch.tensor([1e-19 + 1e-18j, 0j, 0.25 - 0.125j, 3 + 4j, -0.25 + 0j], dtype=torch.complex128)
    made = torch.log1p(z)
    assert made[0].item() == pytest.approx(1e-19 + 1e-18j, rel=1e-12)
    assert made[1].item() == 0
    torch.testing.assert_close(made[2:], torch.log(1 + z[2:]))
    small = torch.log1p(torch.tensor([1e-9 + 1e-10j]))
    assert small.real.item() == pytest.approx(1e-9, rel=1e-6)


@pytest.mark.parametrize("name", ["amax", "amin", "aminmax"])
def test_gradient_of_an_extreme_that_is_nan(torch, name):
    x = torch.tensor([[1.0, NAN, 3.0], [1.0, 3.0, 3.0]], requires_grad=True)
    made = getattr(torch, name)(x, dim=1)
    (made if name != "aminmax" else made.max).sum().backward()
    assert all(math.isnan(v) for v in x.grad[0].tolist())
    assert x.grad[1].tolist() == ([1.0, 0.0, 0.0] if name == "amin" else [0.0, 0.5, 0.5])


def test_averages_over_parts_keep_nan_to_its_part(torch):
    x = torch.arange(8.0).reshape(1, 1, 8)
    x[..., 5] = NAN
    pools = torch.nn.functional
    assert [math.isnan(v) for v in pools.adaptive_avg_pool1d(x, 5)[0, 0].tolist()] == [False] * 3 + [True, False]
    wide = pools.adaptive_avg_pool2d(x.expand(1, 5, 8), (3, 5))
    assert [math.isnan(v) for v in wide[0, 1].tolist()] == [False] * 3 + [True, False]


def test_slope_of_sinc_near_zero(torch):
    x = torch.tensor([1e-320, 1e-200, 0.0, -1e-170, 1.0], dtype=torch.float64, requires_grad=True)
    torch.sinc(x).sum().backward()
    assert x.grad.tolist() == pytest.approx([0.0, 0.0, 0.0, 0.0, -1.0])


def test_hardshrink_compares_in_the_dtype_of_its_input(torch):
    x = torch.tensor([0.1, -0.1, 0.25], dtype=torch.bfloat16)
    assert torch.nn.functional.hardshrink(x, 0.1).tolist() == [0.0, 0.0, 0.25]
    x = torch.tensor([0.0, 0.5, -0.25], requires_grad=True)
    torch.nn.functional.hardshrink(x, -1.0).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_two_numbers_make_a_tensor(torch):
    assert torch.add(1, 2).tolist() == 3 and torch.add(1, 2).dtype == torch.int64
    assert torch.sub(1, 2, alpha=2).item() == -3
    assert torch.mul(1.5, 2).dtype == torch.float32 and torch.add(True, True).dtype == torch.bool
    assert torch.div(7, 2).item() == 3.5 and torch.div(7, 2, rounding_mode="floor").item() == 3
    assert torch.floor_divide(7, 2).dtype == torch.int64 and torch.mul(2j, 2).dtype == torch.complex64
    with pytest.raises(RuntimeError, match="two bool tensors"):
        torch.sub(True, False)
    with pytest.raises(TypeError, match=r"must be Tensor|invalid combination"):
        torch.remainder(3, 2)


def test_a_number_that_requires_grad_is_refused(torch):
    y = torch.tensor(3.0)
    assert y.addcmul(y, y, value=torch.tensor(2.0)).item() == 21.0
    with pytest.raises(TypeError, match=r"Number|invalid combination"):
        y.addcmul(y, y, value=torch.tensor(2.0, requires_grad=True))


def test_what_heaviside_and_powers_say(torch):
    with pytest.raises(RuntimeError, match="not yet implemented for tensors with different dtypes"):
        torch.heaviside(torch.tensor([1.0]), torch.tensor([1]))
    with pytest.raises(RuntimeError, match="requires dtype Double"):
        torch.float_power(torch.tensor([1.0]), 2, out=torch.empty(1))
    with pytest.raises(RuntimeError, match="has dtype Float"):
        torch.tensor([1.0]).float_power_(2)
    with pytest.raises(RuntimeError, match="negative integer powers are not allowed"):
        torch.pow(torch.tensor([1]), -2)


def test_inverse_by_a_singular_factor(torch):
    with pytest.raises(torch.linalg.LinAlgError, match="diagonal element 1 is zero"):
        torch.cholesky_inverse(torch.zeros(2, 2))
    with pytest.raises(torch.linalg.LinAlgError, match=r"Batch element 1.*diagonal element 2 is zero"):
        torch.cholesky_inverse(torch.stack([torch.eye(2), torch.diag(torch.tensor([1.0, 0.0]))]))
    assert torch.cholesky_inverse(torch.full((0, 2, 2), 1.0)).shape == (0, 2, 2)


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_real_dtype_of_a_complex_tensor_is_a_copy(torch):
    z = torch.tensor([1 + 2j, 3 + 4j])
    x = z.to(torch.float32)
    x.add_(5)
    assert z.tolist() == [1 + 2j, 3 + 4j] and x.is_contiguous()


def test_grid_of_nearest_neighbours_has_a_gradient_of_zero(torch):
    image, grid = torch.ones(1, 1, 4, 4), torch.zeros(1, 2, 2, 2, requires_grad=True)
    made = torch.nn.functional.grid_sample(image, grid, mode="nearest", align_corners=False)
    made.sum().backward()
    assert made.tolist() == [[[[1.0, 1.0], [1.0, 1.0]]]] and grid.grad.tolist() == [[[[0.0, 0.0]] * 2] * 2]


def test_a_number_before_a_mask_makes_integers(torch):
    mask = torch.tensor([True, False])
    for made in (
        2 & mask,
        mask & 2,
        torch.bitwise_and(2, mask),
        torch.bitwise_or(2, mask) - 2,
        torch.bitwise_xor(3, mask),
    ):
        assert made.dtype == torch.int64
    assert (3 & mask).tolist() == [1, 0] and (2 | mask).tolist() == [3, 2] and (3 ^ mask).tolist() == [2, 3]
    assert (True & mask).dtype == torch.bool and (2 & mask.to(torch.uint8)).dtype == torch.uint8


def test_weight_of_lerp_without_dimensions_counts_as_a_number(torch):
    a, b = torch.tensor([2.0]), torch.tensor([3.0])
    for weight in (0.5, torch.tensor(0.5), torch.tensor(0.5, dtype=torch.float64)):
        made = torch.lerp(a, b, weight)
        assert made.tolist() == [2.5] and made.dtype == torch.float32
    assert torch.lerp(a, b, torch.tensor(1)).tolist() == [3.0]
    assert a.clone().lerp_(b, torch.tensor(0.5, dtype=torch.float64)).tolist() == [2.5]
    with pytest.raises(RuntimeError, match="for `weight` but got dtype"):
        torch.lerp(a, b, torch.tensor([0.5], dtype=torch.float64))


def test_factors_of_unsigned_integers_wrap_around(torch):
    x = torch.tensor([2], dtype=torch.uint8)
    assert torch.addcmul(x, x, x, value=-1).tolist() == [254]
    for bad in (300, -1.5, -256):
        with pytest.raises(RuntimeError, match="without overflow"):
            torch.addcmul(x, x, x, value=bad)


def test_copies_of_numbers(torch):
    assert torch.zeros(2).copy_(2.5).tolist() == [2.5, 2.5]
    assert torch.zeros(2, dtype=torch.int64).copy_(True).tolist() == [1, 1]
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.copy_(3)
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]
    with pytest.raises(TypeError):
        torch.zeros(2).copy_([1.0])


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 2)])
def test_ignored_targets_have_a_gradient_of_zero_though_none_counts(torch, shape):
    x = torch.ones(shape, requires_grad=True)
    loss = torch.nn.functional.nll_loss(x, torch.ones(shape[0], *shape[2:], dtype=torch.int64), ignore_index=1)
    assert loss.isnan()
    loss.backward()
    assert not x.grad.any()


def test_ignored_targets_have_a_gradient_of_zero_whatever_comes_for_them(torch):
    x = torch.zeros(2, 3, requires_grad=True)
    losses = torch.nn.functional.nll_loss(x, torch.tensor([0, 2]), ignore_index=0, reduction="none")
    losses.backward(torch.tensor([NAN, 2.0]))
    assert x.grad.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, -2.0]]


def test_nan_is_within_every_margin(torch):
    x = torch.tensor([[NAN, 1.0, 2.0], [0.0, 2.0, 1.0]])
    found = torch.nn.functional.multi_margin_loss(x, torch.tensor([0, 1]), reduction="none")
    assert found.tolist() == [0.0, 0.0]
    found = torch.nn.functional.multilabel_margin_loss(x, torch.tensor([[0, -1, 0], [1, -1, 0]]), reduction="none")
    assert found.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rms_norm_of_half_precision_has_the_epsilon_of_float32(torch, dtype):
    x = torch.tensor([0.25], dtype=getattr(torch, dtype))
    assert torch.nn.functional.rms_norm(x, (1,)).item() == 1.0


@pytest.mark.parametrize(
    ("kind", "initial", "wanted"),
    [
        ("max", None, [0, 1, 0, 1.5, 1.5, 0, 3]),
        ("min", None, [0, 1, 0, 1.5, 1.5, 3, 0]),
        ("max", 4.0, [0, 1, 0, 1.5, 1.5, 0, 3]),
        ("prod", None, [NAN, 3, NAN, NAN, NAN, 12, 0]),
    ],
)
def test_elements_that_decide_a_segment_share_its_gradient(torch, kind, initial, wanted):
    x = torch.tensor([1.0, NAN, 3.0, NAN, NAN, 0.0, 4.0], requires_grad=True)
    made = torch.segment_reduce(x, kind, lengths=torch.tensor([3, 2, 2]), initial=initial)
    (g,) = torch.autograd.grad(made, x, torch.tensor([1.0, 3.0, 3.0]))
    assert g.nan_to_num(nan=-1.0).tolist() == [-1 if math.isnan(n) else n for n in wanted]


def test_integers_are_written_to_and_limited_by_integers(torch):
    x = torch.arange(4)
    x.add_(2).mul_(torch.arange(4)).add_(1, alpha=2)
    assert x.tolist() == [2, 5, 10, 17] and x.add_(2**62).add_(2**62)[0].item() == 2 - 2**63
    assert (
        torch.arange(4).clamp(1, 2).tolist() == [1, 1, 2, 2] and torch.arange(4).clamp(max=1.5).dtype == torch.float32
    )
    for wrong in (lambda: x.add_(1.5), lambda: x.mul_(torch.ones(4)), lambda: x.clamp(max=2**63)):
        with pytest.raises(RuntimeError):
            wrong()
