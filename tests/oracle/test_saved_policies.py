"""The same policies as hooks of an installed torch."""

import gc

import pytest

torch = pytest.importorskip("torch")

from gradpack import saved  # noqa: E402

hooks = torch.autograd.graph.saved_tensors_hooks

POLICIES = {
    "keep": (lambda: saved.keep(), 1e-6),
    "bf16": (lambda: saved.bf16(min_bytes=1), 0.03),
    "fp16": (lambda: saved.fp16(min_bytes=1), 0.01),
    "fp8": (lambda: saved.fp8(min_bytes=1), 0.3),
    "int8": (lambda: saved.quantize(8, min_bytes=1), 0.05),
    "disk": (lambda: saved.disk(min_bytes=1, reserve=0), 1e-6),
    "mask": (lambda: saved.mask(min_bytes=1), 1e-6),
    "lossless": (lambda: saved.lossless("zlib", min_bytes=1), 1e-6),
    "int8 >> disk": (lambda: saved.quantize(8, min_bytes=1) >> saved.disk(min_bytes=1, reserve=0), 0.05),
}
each = pytest.mark.parametrize(("make", "allowed"), POLICIES.values(), ids=POLICIES)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = torch.nn.LayerNorm(32), torch.nn.Linear(32, 96), torch.nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        a = (q @ k.transpose(-1, -2) * 0.1).softmax(-1) @ v
        return torch.nn.functional.gelu(self.out(a)) * a.tanh() + x[:, :1].expand_as(x).exp()


def run(make, dtype=torch.float32):
    torch.manual_seed(0)
    net, x = Net().to(dtype), torch.randn(6, 20, 32).to(dtype).requires_grad_()
    if make is None:
        loss = net(x).square().mean()
    else:
        with hooks(*make()):
            y = net(x)
        loss = y.square().mean()
    loss.backward()
    return torch.cat([x.grad.flatten(), *(p.grad.flatten() for p in net.parameters())])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@each
def test_gradients(make, allowed, dtype):
    exact = run(None, dtype)
    error = (run(make, dtype) - exact).norm() / exact.norm()
    assert float(error) <= (allowed if dtype is not torch.bfloat16 else allowed + 0.01)


@each
def test_parameters_stay_and_views_share(make, allowed):
    policy = make()
    w = torch.nn.Parameter(torch.randn(20, 20))
    assert policy.pack(w) is w
    t = w.t()
    assert policy.pack(t) is t
    base = torch.randn(12, 30)
    packed = [policy.pack(v) for v in (*base.chunk(3, 1), base.t(), base[None].expand(4, 12, 30))]
    assert len(policy._known) <= 1
    for handle, view in zip(packed, (*base.chunk(3, 1), base.t(), base[None].expand(4, 12, 30)), strict=True):
        back = policy.unpack(handle)
        assert back.shape == view.shape
        assert back.stride() == view.stride()
        assert float((back - view).abs().max()) <= allowed * float(view.abs().max())


@each
def test_nothing_is_left_behind(make, allowed):
    policy, x = make(), torch.randn(500, requires_grad=True)
    gc.collect()
    gc.disable()
    try:
        with hooks(*policy):
            used, unused = (x * 1).exp().sum(), (x * 1).sin()
        before = len(policy._known)
        del unused
        policy.wait()
        assert len(policy._known) == before // 2
        used.backward()
        policy.wait()
        assert len(policy._known) == 0
    finally:
        gc.enable()


def test_the_address_of_a_dead_tensor_is_not_mistaken_for_it():
    policy = saved.bf16(min_bytes=1)
    held = []
    for i in range(50):
        x = torch.full((5000,), float(i))
        kept = policy.pack(x)
        del x
        assert policy.unpack(kept)[0] == i
        if i % 2:
            held.append(kept)


def test_zeros_of_relu_stay_zeros():
    torch.manual_seed(0)
    x = torch.randn(300, 300, requires_grad=True)
    with hooks(*saved.quantize(8, min_bytes=1)):
        y = x.relu().sum()
    y.backward()
    assert float((x.grad != (x > 0)).float().mean()) < 0.01


def test_a_write_makes_another_version():
    policy, x = saved.bf16(min_bytes=1), torch.zeros(100)
    first = policy.pack(x)
    x += 1
    second = policy.pack(x)
    assert policy.unpack(first).sum() == 0
    assert policy.unpack(second).sum() == 100
