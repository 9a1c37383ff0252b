"""Floating point operations of products and convolutions, forward and backward, by module."""

import importlib

import pytest


@pytest.fixture
def flops(torch):
    return importlib.import_module(f"{torch.__name__}.utils.flop_counter")


def counted(flops, f, **options):
    with flops.FlopCounterMode(display=False, **options) as counter:
        f()
    return {str(op): n for op, n in counter.get_flop_counts().get("Global", {}).items()}


PRODUCTS = [
    ((4, 5), (5, 6), "mm", 240),
    ((5,), (5, 6), "mm", 60),
    ((2, 4, 5), (5, 6), "mm", 480),
    ((4, 5), (2, 5, 6), "mm", 480),
    ((2, 4, 5), (2, 5, 6), "bmm", 480),
    ((3, 2, 4, 5), (2, 5, 6), "bmm", 1440),
    ((3, 1, 4, 5), (2, 5, 6), "bmm", 1440),
]


@pytest.mark.parametrize(("a", "b", "name", "count"), PRODUCTS)
def test_products(torch, flops, a, b, name, count):
    x, y = torch.ones(a, requires_grad=True), torch.ones(b, requires_grad=True)
    assert counted(flops, lambda: x @ y) == {f"aten.{name}": count}
    assert counted(flops, lambda: (x @ y).sum().backward()) == {f"aten.{name}": 3 * count}
    assert sum(counted(flops, lambda: (x.detach() @ y).sum().backward()).values()) == 2 * count


def test_products_with_a_vector_are_not_counted(torch, flops):
    a, v = torch.ones(4, 5), torch.ones(5)
    assert counted(flops, lambda: (a @ v, v @ v, torch.mv(a, v), a.exp() * a)) == {}


def test_products_that_add(torch, flops):
    a, b = torch.ones(4, 5, requires_grad=True), torch.ones(5, 6, requires_grad=True)
    c, d = torch.ones(2, 4, 5, requires_grad=True), torch.ones(2, 5, 6, requires_grad=True)
    assert counted(flops, lambda: torch.addmm(torch.ones(6), a, b).sum().backward()) == {
        "aten.addmm": 240,
        "aten.mm": 480,
    }
    assert counted(flops, lambda: torch.baddbmm(torch.ones(2, 4, 6), c, d).sum().backward()) == {
        "aten.baddbmm": 480,
        "aten.bmm": 960,
    }


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
def test_linear(torch, flops, shape):
    x, layer = torch.ones(shape, requires_grad=True), torch.nn.Linear(5, 6)
    one = 12 * x.numel()
    assert counted(flops, lambda: layer(x).sum().backward()) == {"aten.addmm": one, "aten.mm": 2 * one}
    assert counted(flops, lambda: torch.nn.functional.linear(x, layer.weight)) == {"aten.mm": one}
    assert counted(flops, lambda: layer(x.detach()).sum().backward()) == {"aten.addmm": one, "aten.mm": one}


def test_convolutions(torch, flops):
    F = torch.nn.functional
    x, w = torch.ones(2, 3, 6, 6, requires_grad=True), torch.ones(6, 3, 4, 4, requires_grad=True)
    both = {"aten.convolution": 28800, "aten.convolution_backward": 57600}
    assert counted(flops, lambda: F.conv2d(x, w, padding=1).sum().backward()) == both
    half = both | {"aten.convolution_backward": 28800}
    assert counted(flops, lambda: F.conv2d(x.detach(), w, padding=1).sum().backward()) == half
    u = torch.ones(3, 4, 3, 3, requires_grad=True)
    assert counted(flops, lambda: F.conv_transpose2d(x, u, stride=2).sum().backward()) == {
        "aten.convolution": 15552,
        "aten.convolution_backward": 31104,
    }
    assert counted(flops, lambda: F.conv1d(torch.ones(3, 8), torch.ones(4, 3, 2))) == {"aten.convolution": 336}
    assert counted(flops, lambda: F.conv2d(x[:, :2], torch.ones(6, 1, 3, 3), groups=2)) == {"aten.convolution": 3456}


def test_modules(torch, flops):
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.rest = nn.Linear(4, 5), nn.Sequential(nn.ReLU(), nn.Linear(5, 2))

        def forward(self, x):
            return self.rest(self.first(x)) @ torch.ones(2, 2)

    net, aten = Net(), torch.ops.aten
    with flops.FlopCounterMode(display=False) as counter:
        net(torch.ones(3, 4)).sum().backward()
        torch.ones(2, 2) @ torch.ones(2, 2)
    found = counter.get_flop_counts()
    assert set(found) == {"Global", "Net", "Net.first", "Net.rest", "Net.rest.1"}
    assert found["Net.first"] == {aten.addmm: 120, aten.mm: 120}
    assert found["Net.rest"] == found["Net.rest.1"] == {aten.addmm: 60, aten.mm: 120}
    assert sum(found["Global"].values()) == sum(found["Net"].values()) + 16 == counter.get_total_flops()


def test_a_counter_is_used_again(torch, flops):
    counter = flops.FlopCounterMode(display=False)
    x = torch.ones(2, 2)
    for _ in range(2):
        with counter:
            x @ x
        assert counter.get_total_flops() == 16
    x @ x
    assert counter.get_total_flops() == 16


def test_one_counter_inside_of_another(torch, flops):
    x = torch.ones(2, 2)
    with flops.FlopCounterMode(display=False) as outer:
        x @ x
        with flops.FlopCounterMode(display=False) as inner:
            x @ x
    assert outer.get_total_flops() == 32 and inner.get_total_flops() == 16


def test_functions_of_the_user(torch, flops):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x @ x

        @staticmethod
        def backward(ctx, g):
            return g @ g + g @ g

    x = torch.ones(5, 5, requires_grad=True)
    assert counted(flops, lambda: Square.apply(x).sum().backward()) == {"aten.mm": 750}


def test_second_derivatives_and_transforms(torch, flops):
    x = torch.ones(3, 3, requires_grad=True)

    def twice():
        (g,) = torch.autograd.grad((x @ x).sum(), x, create_graph=True)
        g.sum().backward()

    assert counted(flops, twice)["aten.mm"] >= 3 * 54
    assert counted(flops, lambda: torch.func.grad(lambda x: (x @ x).sum())(x.detach())) == {"aten.mm": 3 * 54}
    with flops.FlopCounterMode(display=False) as counter:
        torch.vmap(lambda a: a @ a)(torch.ones(4, 3, 3))
    assert counter.get_total_flops() == 4 * 54


def test_convolutions_that_are_differentiated_twice(torch, flops):
    x, w = torch.ones(2, 3, 6, 6, requires_grad=True), torch.ones(6, 3, 4, 4, requires_grad=True)

    def twice():
        out = torch.nn.functional.conv2d(x, w).pow(2).sum()
        torch.autograd.grad(out, (x, w), create_graph=True)

    one = 2 * 2 * 9 * 6 * 3 * 16
    assert counted(flops, twice) == {"aten.convolution": one, "aten.convolution_backward": 2 * one}


def test_formulas_of_the_user(torch, flops):
    x, aten = torch.ones(4, 5), torch.ops.aten
    options = {"custom_mapping": {aten.add: lambda a, b, *rest, out_shape=None, **named: a[0] * b[1] * out_shape[0]}}
    assert counted(flops, lambda: x + x, **options) == {"aten.add": 80}

    def raw(a, *rest, out_val=None, **named):
        return int(a.sum()) + out_val.numel()

    raw._get_raw = True
    assert counted(flops, lambda: x + x, custom_mapping={aten.add: raw}) == {"aten.add": 40}
    product = {"custom_mapping": {aten.mm: lambda *shapes, out_shape=None: 1}}
    y = x.clone().requires_grad_()
    assert counted(flops, lambda: (y @ x.T).sum().backward(), **product) == {"aten.mm": 2}
    try:

        @flops.register_flop_formula([aten.sin, aten.cos])
        def of_waves(shape, *rest, out_shape=None, **named):
            return 10 * shape[0]

        assert counted(flops, lambda: x.sin().cos().tan()) == {"aten.sin": 40, "aten.cos": 40}
        with pytest.raises(RuntimeError, match=r"duplicate registrations for aten\.sin"):
            flops.register_flop_formula(aten.sin)(of_waves)
    finally:
        for op in (aten.sin, aten.cos):
            flops.flop_registry.pop(op, None)
    with pytest.raises(ValueError, match="expected each target to be"):
        flops.register_flop_formula([print])(len)


def test_after_an_error(torch, flops):
    counter = flops.FlopCounterMode(display=False)
    layer = torch.nn.Linear(2, 3)
    with counter, pytest.raises(RuntimeError):
        layer(torch.ones(5))
    with counter:
        torch.ones(2, 2) @ torch.ones(2, 2)
    assert counter.get_total_flops() == 16


def test_modules_need_not_be_given(torch, flops):
    with pytest.warns(UserWarning, match="mods argument is not needed"):
        flops.FlopCounterMode(torch.nn.Linear(2, 2), display=False)
