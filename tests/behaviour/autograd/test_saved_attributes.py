"""What nodes show of what they have saved: `_saved_*` and `_raw_saved_*`."""

from __future__ import annotations

import pytest


def plain(torch, value):
    if isinstance(value, torch.Tensor):
        return value.tolist()
    return tuple(plain(torch, v) for v in value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("a.pow(3)", "exponent", 3),
        ("torch.pow(2, a[0])", "self", 2),
        ("a[0] * 2", "other", 2),
        ("a[0] / 2", "other", 2),
        ("a[0] / 2", "self", None),
        ("a + a", "alpha", 1),
        ("a.sum(1)", "dim", (1,)),
        ("a.sum(1)", "keepdim", False),
        ("a.mean()", "self_sym_sizes", (2, 2)),
        ("a.mean()", "self_sym_numel", 4),
        ("a.mean(0)", "dim", (0,)),
        ("a.logsumexp(0)", "dim", (0,)),
        ("a.softmax(1)", "dim", 1),
        ("a.view(4)", "self_sym_sizes", (2, 2)),
        ("a.expand(3, 2, 2)", "self_sym_sizes", (2, 2)),
        ("a.permute(1, 0)", "dims", (1, 0)),
        ("a.transpose(0, 1)", "dim0", 0),
        ("a.unsqueeze(1)", "dim", 1),
        ("a.squeeze(0)", "dim", 0),
        ("a[0]", "dim", 0),
        ("a[:, 1]", "index", 1),
        ("a[1:]", "start", 1),
        ("a[::2]", "step", 2),
        ("a[:, torch.tensor([0, 1])]", "indices", (None, [0, 1])),
        ("a @ a", "self_sym_strides", (2, 1)),
        ("a @ a", "mat2_sym_sizes", (2, 2)),
        ("a @ a[0]", "vec", [1.0, 2.0]),
        ("a[0] @ a[1]", "tensor", [3.0, 4.0]),
        ("torch.cat([a, a], 1)", "dim", 1),
        ("torch.stack([a, a], 1)", "dim", 1),
        ("a.max(0)[0]", "indices", [1, 1]),
        ("a.where(a > 2, a)", "condition", [[False, False], [True, True]]),
        ("a.masked_fill(a > 2, 1.0)", "mask", [[False, False], [True, True]]),
        ("torch.clamp(a, 0, 1)", "min", 0),
        ("torch.lerp(a, a, 0.5)", "weight", 0.5),
        ("torch.div(a, 2.0, rounding_mode='trunc')", "rounding_mode", "trunc"),
        ("torch.nn.functional.gelu(a)", "approximate", "none"),
        ("torch.nn.functional.mse_loss(a, a.detach())", "reduction", 1),
        ("torch.nn.functional.layer_norm(a, (2,))", "normalized_shape", (2,)),
        ("a.square()", "exponent", 2),
        ("a.unbind(1)[0]", "dim", 1),
        ("a.as_strided((2,), (1,))", "stride", (1,)),
        ("torch.addmm(a, a, a, beta=2)", "beta", 2),
        ("torch.logit(a, 0.25)", "eps", 0.25),
        ("torch.logit(a)", "eps", None),
    ],
)
def test_names_and_values(torch, text, name, value):
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    node = eval(text, {"torch": torch, "a": a}).grad_fn
    assert plain(torch, getattr(node, f"_saved_{name}")) == value
    assert f"_saved_{name}" in dir(node)


def test_the_tensors_themselves(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * x
    assert y.grad_fn._saved_self is x and y.grad_fn._saved_other is x
    z = y.exp()
    saved = z.grad_fn._saved_result
    assert saved is not z and saved.grad_fn is z.grad_fn and saved.data_ptr() == z.data_ptr()
    with pytest.raises(AttributeError):
        _ = y.grad_fn._saved_nothing
    with pytest.raises(AttributeError):
        _ = y.grad_fn._raw_saved_nothing
    assert [n for n in dir(z.grad_fn) if "saved" in n] == ["_raw_saved_result", "_saved_result"]


def test_after_backward(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * x
    raw = y.grad_fn._raw_saved_self
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = y.grad_fn._saved_self
    for saved in (raw, y.grad_fn._raw_saved_self):
        with pytest.raises(RuntimeError, match="after it has been freed"):
            saved.register_hooks(lambda t: t, lambda t: t)
        assert saved.data is None
    assert torch.stack([x, x], 1).grad_fn._saved_dim == 1


def test_raw_saved_tensors(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * x
    raw = y.grad_fn._raw_saved_self
    kind = torch._C._autograd.SavedTensor
    assert type(raw) is kind and raw.unpack_hook is None and raw.unpack() is x
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python is forbidden"):
        kind()
    for wrong in ((1, 2), (lambda t: t, 2)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            raw.register_hooks(*wrong)

    def unpack(packed):
        return packed * 10

    raw.register_hooks(lambda t: t.detach(), unpack)
    assert raw.unpack_hook is unpack
    with pytest.raises(RuntimeError, match="whose hooks have already been set"):
        raw.register_hooks(lambda t: t, lambda t: t)
    y.sum().backward()
    assert x.grad.tolist() == [11.0, 11.0]


def test_raw_saved_result(torch):
    x = torch.zeros(2, requires_grad=True)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t.detach(), lambda t: t * 10)
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


def test_raw_saved_number_and_none(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    y.grad_fn._raw_saved_other.register_hooks(lambda t: t, lambda t: t * 3)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
    z = x.view(1, 2)[:, torch.tensor([0, 1])]
    raw = z.grad_fn._raw_saved_indices
    raw[1].register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        raw[0].register_hooks(lambda t: t, lambda t: t)


def test_raw_saved_hooks_that_fail(torch):
    x = torch.ones(2, requires_grad=True) * 1
    y = x * x
    with pytest.raises(ZeroDivisionError):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: 1 / 0, lambda t: t)
    z = x * x
    with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
        z.grad_fn._raw_saved_self.register_hooks(lambda t: t.mul_(2), lambda t: t)
    z = x.exp()
    z.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: 5)
    with pytest.raises(TypeError, match="expected to be a Tensor but got result of type int"):
        z.sum().backward()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda t, x: t.nn.functional.conv2d(x, t.ones(1, 2, 2, 2)), {"stride": (1, 1), "groups": 1}),
        (lambda t, x: t.nn.functional.conv2d(x, t.ones(1, 2, 2, 2)), {"bias_sym_sizes_opt": (0,)}),
        (
            lambda t, x: t.nn.functional.conv2d(x, t.ones(3, 2, 2, 2), t.ones(3, requires_grad=True)),
            {"bias_sym_sizes_opt": (3,)},
        ),
        (
            lambda t, x: t.nn.functional.conv_transpose2d(x, t.ones(2, 2, 2, 2), t.nn.Parameter(t.ones(4)), groups=2),
            {"bias_sym_sizes_opt": (4,), "transposed": True},
        ),
        (lambda t, x: t.nn.functional.pixel_shuffle(x.reshape(1, 12, 2, 2), 2), {"upscale_factor": 2}),
        (lambda t, x: t.nn.functional.pixel_unshuffle(x, 2), {"downscale_factor": 2}),
        (lambda t, x: t.nn.functional.max_pool2d(x, 2, 1), {"kernel_size": (2, 2), "stride": (1, 1)}),
        (lambda t, x: t.nn.functional.avg_pool2d(x, 2, 1), {"count_include_pad": True, "divisor_override": None}),
        (lambda t, x: t.nn.functional.unfold(x, 2), {"kernel_size": (2, 2), "self_sym_argsize_minus_1": 6}),
        (
            lambda t, x: t.nn.functional.interpolate(x, scale_factor=2, mode="bilinear"),
            {"output_size": (8, 12), "align_corners": False, "scales_h": 2.0, "scales_w": 2.0},
        ),
        (lambda t, x: t.nn.functional.interpolate(x[0], 4, mode="linear"), {"output_size": (4,), "scales": None}),
        (lambda t, x: t.nn.functional.interpolate(x, (2, 3)), {"output_size": (2, 3), "scales_h": None}),
        (lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True), {"training": True, "weight": None}),
        (lambda t, x: t.nn.functional.group_norm(x, 2), {"group": 2, "eps": 1e-05}),
        (lambda t, x: t.addbmm(t.ones(4, 4), x[0], x[0].mT), {"batch1_sym_argsize_0": 2, "batch1_sym_argsize_1": 4}),
    ],
)
def test_geometry(torch, call, expected):
    x = torch.arange(48.0).reshape(1, 2, 4, 6).requires_grad_()
    node = call(torch, x).grad_fn
    for name, value in expected.items():
        assert getattr(node, "_saved_" + name) == value, name
    assert {"_saved_" + name for name in expected} <= set(dir(node))


# -- after backward --

NUMBERS = [
    ("a.pow(3)", "exponent", 3),
    ("a.pow(2.5)", "exponent", 2.5),
    ("torch.pow(2, a)", "self", 2),
    ("torch.clamp(a, 0, 1)", "min", 0),
    ("torch.clamp(a, 0, 1)", "max", 1),
    ("torch.clamp(a, min=0)", "max", None),
    ("torch.clamp(a, torch.tensor(0.0))", "max", None),
    ("torch.lerp(a, a.detach(), 0.25)", "weight", 0.25),
    ("a.renorm(2, 0, 1.0)", "maxnorm", 1.0),
    ("a * 2", "self", None),
    ("a / 2", "self", None),
    ("a * a.detach()", "self", None),
    ("torch.nn.functional.layer_norm(a, (2,))", "weight", None),
    ("torch.nn.functional.leaky_relu(a, 0.5)", "negative_slope", 0.5),
    ("torch.linalg.vector_norm(a, 2, 0)", "dim", (0,)),
    ("a.gather(0, torch.tensor([[0, 1]]), sparse_grad=True)", "sparse_grad", True),
    ("a.sum(0)", "dim", (0,)),
]


@pytest.mark.parametrize(("text", "name", "value"), NUMBERS)
def test_what_is_no_tensor_stays_after_backward(torch, text, name, value):
    a = torch.tensor([[0.25, 0.5], [0.75, 2.0]], requires_grad=True)
    y = eval(text, {"torch": torch, "a": a})
    before = getattr(y.grad_fn, f"_saved_{name}"), y.grad_fn.name()
    y.sum().backward()
    assert before == (getattr(y.grad_fn, f"_saved_{name}"), y.grad_fn.name()) == (value, before[1])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a.pow(3)", "self"),
        ("a * 2", "other"),
        ("a / 2", "other"),
        ("torch.clamp(a, 0, 1)", "self"),
        ("torch.clamp(a, torch.tensor(0.0))", "self min"),
        ("a ** torch.tensor(2.0)", "exponent self"),
        ("torch.lerp(a, a.detach(), a.detach())", "weight"),
        ("torch.nn.functional.layer_norm(a, (2,))", "input"),
    ],
)
def test_tensors_do_not(torch, text, names):
    a = torch.tensor([[0.25, 0.5], [0.75, 2.0]], requires_grad=True)
    y = eval(text, {"torch": torch, "a": a})
    y.sum().backward()
    for name in names.split():
        with pytest.raises(RuntimeError, match="after they have already been freed"):
            getattr(y.grad_fn, f"_saved_{name}")


def test_a_node_that_has_saved_numbers_only_runs_again(torch):
    a, b = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    y = torch.lerp(a, b, 0.25).sum()
    y.backward()
    y.backward()
    assert a.grad.tolist() == [1.5, 1.5] and b.grad.tolist() == [0.5, 0.5]
    y = torch.lerp(a, b, torch.tensor(0.25)).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()
