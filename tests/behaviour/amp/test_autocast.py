"""Autocast: which operations are cast, to what, and that the casts are differentiable."""

from __future__ import annotations

import threading

import pytest

LOW = {
    "matmul": lambda t, x: x @ x,
    "matrix times vector": lambda t, x: x @ x[0],
    "mm": lambda t, x: t.mm(x, x),
    "bmm": lambda t, x: t.bmm(x[None], x[None]),
    "addmm": lambda t, x: t.addmm(x, x, x),
    "baddbmm": lambda t, x: t.baddbmm(x[None], x[None], x[None]),
    "linear": lambda t, x: t.nn.functional.linear(x, x, x[0]),
    "einsum": lambda t, x: t.einsum("ij,jk->ik", x, x),
    "attention": lambda t, x: t.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None]),
    "prelu": lambda t, x: t.nn.functional.prelu(x, x[0, :1]),
}
AS_GIVEN = {
    "add": lambda t, x: x + x,
    "exp": lambda t, x: x.exp(),
    "mv": lambda t, x: t.mv(x, x[0]),
    "dot": lambda t, x: t.dot(x[0], x[0]),
    "outer": lambda t, x: t.outer(x[0], x[0]),
    "tensordot": lambda t, x: t.tensordot(x, x),
    "softmax": lambda t, x: x.softmax(-1),
    "sum": lambda t, x: x.sum(),
    "norm": lambda t, x: x.norm(),
    "layer_norm": lambda t, x: t.nn.functional.layer_norm(x, (3,)),
}
FULL = {
    "prod": lambda t, x: x.prod(),
    "prod of a dim": lambda t, x: x.prod(0),
    "mse_loss": lambda t, x: t.nn.functional.mse_loss(x, x),
    "l1_loss": lambda t, x: t.nn.functional.l1_loss(x, x),
    "nll_loss": lambda t, x: t.nn.functional.nll_loss(x, t.tensor([0, 1, 2])),
    "cross_entropy": lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([0, 1, 2])),
}


@pytest.mark.parametrize("low", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", LOW)
def test_products_run_in_low_precision(torch, name, low):
    with torch.autocast("cpu", dtype=getattr(torch, low)):
        assert LOW[name](torch, torch.ones(3, 3)).dtype is getattr(torch, low)
    assert LOW[name](torch, torch.ones(3, 3)).dtype is torch.float32


@pytest.mark.parametrize("name", AS_GIVEN)
def test_others_run_in_the_dtype_they_are_given(torch, name):
    with torch.autocast("cpu"):
        assert AS_GIVEN[name](torch, torch.ones(3, 3)).dtype is torch.float32
        assert name in ("mv", "dot") or AS_GIVEN[name](torch, torch.ones(3, 3).bfloat16()).dtype is torch.bfloat16


@pytest.mark.parametrize("name", FULL)
def test_losses_run_in_float32(torch, name):
    with torch.autocast("cpu"):
        assert FULL[name](torch, torch.ones(3, 3).bfloat16()).dtype is torch.float32


def images(t, x):
    return x.reshape(1, 1, 3, 3), t.ones(2, 1, 2, 2)


# Of tensors in low precision and in float32, as what operations before return.
MIXED_LOW = {
    "conv1d": lambda t, x: t.conv1d(x[None], t.ones(2, 3, 2), t.ones(2).bfloat16()),
    "conv2d": lambda t, x: t.conv2d(*images(t, x)),
    "conv2d of the same size": lambda t, x: t.conv2d(images(t, x)[0], t.ones(2, 1, 3, 3), padding="same"),
    "conv3d": lambda t, x: t.conv3d(x.reshape(1, 1, 1, 3, 3), t.ones(2, 1, 1, 2, 2)),
    "conv_transpose2d": lambda t, x: t.conv_transpose2d(images(t, x)[0], t.ones(1, 2, 2, 2)),
    "Conv2d": lambda t, x: t.nn.Conv2d(1, 2, 2)(images(t, x)[0]),
    "attention": lambda t, x: t.nn.functional.scaled_dot_product_attention(x.float()[None], x.float()[None], x[None]),
    "vecdot": lambda t, x: t.linalg.vecdot(x, x.float()),
    "tensordot": lambda t, x: t.tensordot(x, x, 1),
}
MIXED_FULL = {
    "avg_pool3d": lambda t, x: t.nn.functional.avg_pool3d(x.reshape(1, 1, 1, 3, 3), 1),
    "max_pool3d": lambda t, x: t.nn.functional.max_pool3d(x.reshape(1, 1, 1, 3, 3), 1),
    "reflect": lambda t, x: t.nn.functional.pad(x[None], (1, 1), mode="reflect"),
    "replicate": lambda t, x: t.nn.functional.pad(x[None], (1, 1), mode="replicate"),
    "grid_sample": lambda t, x: t.nn.functional.grid_sample(images(t, x)[0], t.zeros(1, 2, 2, 2), align_corners=False),
    "cdist": lambda t, x: t.cdist(x, x.float()),
    "trace": lambda t, x: x.trace(),
    "quantile": lambda t, x: x.quantile(0.5),
    "inverse": lambda t, x: (x + t.eye(3).bfloat16()).inverse(),
    "cholesky": lambda t, x: t.linalg.cholesky(t.eye(3).bfloat16()),
    "solve": lambda t, x: t.linalg.solve(t.eye(3), x),
    "svd": lambda t, x: t.linalg.svd(x).S,
    "eigvalsh": lambda t, x: t.linalg.eigvalsh(x),
    "qr": lambda t, x: t.linalg.qr(x).Q,
    "lstsq": lambda t, x: t.linalg.lstsq(t.eye(3).bfloat16(), x).solution,
    "irfft": lambda t, x: t.fft.irfft(x),
}


@pytest.mark.parametrize("name", MIXED_LOW)
def test_functions_in_low_precision_take_other_dtypes(torch, name):
    x = torch.ones(3, 3).bfloat16().requires_grad_()
    with torch.autocast("cpu"):
        made = MIXED_LOW[name](torch, x)
    assert made.dtype is torch.bfloat16
    made.sum().backward()
    assert x.grad.dtype is torch.bfloat16


@pytest.mark.parametrize("name", MIXED_FULL)
def test_functions_in_float32_take_low_precision(torch, name):
    x = torch.ones(3, 3).bfloat16()
    with torch.autocast("cpu"):
        assert MIXED_FULL[name](torch, x).dtype is torch.float32


def test_transforms_of_low_precision_are_complex(torch):
    with torch.autocast("cpu"):
        assert torch.fft.fft(torch.ones(4).bfloat16()).dtype is torch.complex64
        assert torch.tensordot(torch.ones(3, 3), torch.ones(3, 3)).dtype is torch.float32  # a sum of products


def test_what_joins_tensors_takes_the_widest(torch):
    low, full = torch.ones(2).bfloat16(), torch.ones(2)
    with torch.autocast("cpu"):
        assert torch.cat([low, full]).dtype is torch.float32
        assert torch.stack([low, low]).dtype is torch.bfloat16
    with torch.autocast("cpu", dtype=torch.float16), pytest.raises(RuntimeError, match="Unexpected floating"):
        torch.cat([low, full])


def test_doubles_and_integers_are_left_alone(torch):
    with torch.autocast("cpu"):
        assert (torch.ones(2, 2).double() @ torch.ones(2, 2).double()).dtype is torch.float64
        assert (torch.ones(2, 2).long() @ torch.ones(2, 2).long()).dtype is torch.int64


def test_state(torch):
    def state():
        return torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled()

    off = (False, torch.bfloat16, True)
    assert state() == off
    with torch.autocast("cpu", dtype=torch.float16, cache_enabled=False):
        assert state() == (True, torch.float16, False)
        with torch.autocast("cpu", enabled=False):
            assert state() == (False, torch.float16, False)
    assert state() == off
    with pytest.raises(ValueError), torch.autocast("cpu"):
        raise ValueError
    assert state() == off


def test_setters(torch):
    torch.set_autocast_enabled("cpu", True)
    try:
        assert (torch.ones(1, 1) @ torch.ones(1, 1)).dtype is torch.bfloat16
    finally:
        torch.set_autocast_enabled("cpu", False)
    torch.set_autocast_dtype("cpu", torch.float16)
    try:
        with torch.autocast("cpu"):
            assert (torch.ones(1, 1) @ torch.ones(1, 1)).dtype is torch.float16
    finally:
        torch.set_autocast_dtype("cpu", torch.bfloat16)
    assert torch.autocast_increment_nesting() == 1
    assert torch.autocast_decrement_nesting() == 0
    with pytest.raises(TypeError, match="must be bool"):
        torch.set_autocast_enabled("cpu", 3)


def test_decorator(torch):
    @torch.autocast("cpu")
    def inside(x):
        return (x @ x).dtype

    @torch.autocast("cpu", enabled=False)
    def outside(x):
        return (x @ x).dtype

    x = torch.ones(2, 2)
    with torch.autocast("cpu"):
        assert outside(x) is torch.float32
    assert inside(x) is torch.bfloat16 and inside.__name__ == "inside"
    with pytest.raises(TypeError, match="requires a callable, but got int"):
        torch.autocast("cpu")(3)


def test_bad_arguments(torch):
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        torch.autocast(3)
    with pytest.raises(RuntimeError, match="device type at start of device string: nowhere"):
        torch.autocast("nowhere")
    with pytest.warns(UserWarning, match="target dtype is not supported"):
        manager = torch.autocast("cpu", dtype=torch.float32)
    with manager:
        assert not torch.is_autocast_enabled("cpu")


def test_gradients_come_back_in_the_dtype_of_the_leaf(torch):
    model = torch.nn.Linear(3, 2)
    x = torch.ones(4, 3, requires_grad=True)
    with torch.autocast("cpu"):
        y = model(x)
        loss = torch.nn.functional.mse_loss(y, torch.zeros(4, 2))
    assert y.dtype is torch.bfloat16 and loss.dtype is torch.float32
    loss.backward()
    assert x.grad.dtype is torch.float32 and model.weight.grad.dtype is torch.float32


def test_a_leaf_is_cast_once(torch):
    def casts(y):
        return [edge[0] for edge in y.grad_fn.next_functions]

    x = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        first, second = casts(x @ x)
        assert first is second
        with torch.autocast("cpu"):
            assert casts(x @ x)[0] is first
        torch.clear_autocast_cache()
        assert casts(x @ x)[0] is not first
        inner = x * 1
        assert len(set(casts(inner @ inner))) == 2
    with torch.autocast("cpu", cache_enabled=False):
        assert len(set(casts(x @ x))) == 2


def test_a_write_to_a_leaf_is_seen(torch, real):
    if real:
        pytest.skip("torch serves the old cast")
    x = torch.ones(1, 1, requires_grad=True)
    with torch.autocast("cpu"):
        assert (x @ x).item() == 1.0
        with torch.no_grad():
            x.mul_(2)
        assert (x @ x).item() == 4.0


def test_double_backward(torch):
    x = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        loss = (x @ x).sum().float()
    (g,) = torch.autograd.grad(loss, x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert g.dtype is torch.float32 and h.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_in_place_and_out_forms_are_left_alone(torch):
    x = torch.ones(2, 2)
    with torch.autocast("cpu"):
        assert x.clone().addmm_(x, x).dtype is torch.float32
        assert torch.mm(x, x, out=torch.empty(2, 2)).dtype is torch.float32


def test_functions(torch):
    seen = []

    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu")
        def forward(ctx, a):
            ctx.save_for_backward(a)
            seen.append(torch.is_autocast_enabled("cpu"))
            return a @ a

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            seen.append(torch.is_autocast_enabled("cpu"))
            return g @ a.t() + a.t() @ g

    class Doubled(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx, a, n):
            seen.append((torch.is_autocast_enabled("cpu"), a.dtype, n))
            return a * n

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            seen.append(g.dtype)
            return g * 2, None

    x = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        y = Product.apply(x)
    y.sum().backward()
    assert seen == [True, True] and y.dtype is torch.bfloat16 and x.grad.dtype is torch.float32
    seen.clear()
    low = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    with torch.autocast("cpu"):
        y = Doubled.apply(low, 2)
    y.sum().backward()
    assert seen == [(False, torch.float32, 2), torch.float32] and low.grad.dtype is torch.bfloat16
    with pytest.raises(ValueError, match="device_type"):
        torch.amp.custom_fwd(device_type=3)


def test_other_threads_have_their_own(torch):
    seen = []
    with torch.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append(torch.is_autocast_enabled("cpu")))
        thread.start()
        thread.join()
    assert seen == [False]


def test_old_names(torch):
    with pytest.warns(FutureWarning, match="deprecated"), torch.cpu.amp.autocast():
        assert torch.is_autocast_enabled("cpu")
    with pytest.warns(DeprecationWarning, match="deprecated"):
        assert not torch.is_autocast_cpu_enabled()
    assert torch.amp.autocast is torch.autocast and torch.amp.is_autocast_available("cpu")
