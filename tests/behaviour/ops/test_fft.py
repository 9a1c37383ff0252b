"""Fourier transforms: values, gradients, and how torch refuses."""

from __future__ import annotations

import pytest

NAMES = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
MANY = [n + "2" for n in NAMES] + [n + "n" for n in NAMES]


def signal(torch, name, *shape):
    real = torch.arange(24, dtype=torch.float64).reshape(shape).sin()
    if name.startswith(("rfft", "ihfft")):
        return real.requires_grad_()
    return torch.complex(real.detach(), real.cos()).requires_grad_()


def inner(torch, a, b):
    return float(torch.real(a.conj() * b).sum().detach())


def adjoint_holds(torch, function, x):
    """<u, f(v)> = <gradient for u, v>, as f is linear; the gradient's own gradient is f again."""
    y = function(x)
    u = torch.cos(torch.arange(y.numel(), dtype=torch.float64)).reshape(y.shape)
    u = (torch.complex(u, u * u) if y.is_complex() else u).requires_grad_()
    (g,) = torch.autograd.grad(y, x, u, create_graph=True)
    assert g.dtype is x.dtype
    assert inner(torch, u, y) == pytest.approx(inner(torch, g, x))
    v = x.detach() * 0.5
    (back,) = torch.autograd.grad(g, u, v)
    assert torch.allclose(back, function(v))


@pytest.mark.parametrize("norm", [None, "ortho", "forward", "backward"])
@pytest.mark.parametrize("name", NAMES)
def test_gradients(torch, name, norm):
    x = signal(torch, name, 4, 6)
    function = getattr(torch.fft, name)
    adjoint_holds(torch, lambda t: function(t, 5, 0, norm), x)
    adjoint_holds(torch, lambda t: function(t, None, 1, norm), x)


@pytest.mark.parametrize("name", MANY)
def test_gradients_over_several_dimensions(torch, name):
    x = signal(torch, name, 2, 3, 4)
    function = getattr(torch.fft, name)
    adjoint_holds(torch, lambda t: function(t, s=(3, 5), dim=(0, 2)), x)


def test_inverses(torch):
    x = torch.tensor([1.0, -2.0, 0.5, 3.0, 4.0])
    for there, back in (("fft", "ifft"), ("rfft", "irfft"), ("ihfft", "hfft")):
        away = getattr(torch.fft, there)(x)
        assert away.dtype is torch.complex64
        more = {} if back == "ifft" else {"n": 5}
        assert torch.allclose(torch.real(getattr(torch.fft, back)(away, **more)), x, atol=1e-5)


def test_names_of_nodes(torch):
    x = torch.ones(4, requires_grad=True)
    assert torch.fft.fft(x).grad_fn.name() == "FftR2CBackward0"
    assert torch.fft.fft(x * 1j).grad_fn.name() == "FftC2CBackward0"
    assert torch.fft.irfft(x).grad_fn.name() == "FftC2RBackward0"
    node = torch.fft.fft(x * 1j, norm="ortho").grad_fn
    assert (node._saved_dim, node._saved_normalization, node._saved_forward) == ((0,), 1, True)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda t: t.fft.fft(t.ones(3, dtype=t.half)), RuntimeError, "Unsupported dtype Half"),
        (lambda t: t.fft.rfft(t.ones(3) * 1j), RuntimeError, "rfft expects a real input tensor, but got ComplexFloat"),
        (lambda t: t.fft.fft(t.ones(3), n=0), RuntimeError, r"Invalid number of data points \(0\) specified"),
        (lambda t: t.fft.irfft(t.ones(1)), RuntimeError, r"Invalid number of data points \(0\) specified"),
        (lambda t: t.fft.fft(t.ones(3), norm="x"), RuntimeError, 'Invalid normalization mode: "x"'),
        (lambda t: t.fft.fft(t.ones(3), dim=2), IndexError, "Dimension out of range"),
        (lambda t: t.fft.fft(t.ones(())), IndexError, "Dimension specified as -1 but tensor has no dimensions"),
        (lambda t: t.fft.rfftn(t.ones(())), RuntimeError, "rfftn must transform at least one axis"),
        (lambda t: t.fft.fftn(t.ones(3), s=(2, 2)), RuntimeError, "Got shape with 2 values but input tensor only has"),
        (lambda t: t.fft.fftn(t.ones(3, 3), s=(2, 2), dim=(0,)), RuntimeError, "must have the same length"),
        (lambda t: t.fft.fftn(t.ones(3, 3), dim=(0, 0)), RuntimeError, "FFT dims must be unique"),
        (lambda t: t.fft.fftfreq(4, dtype=t.int32), RuntimeError, "requires a floating point or complex dtype"),
        (lambda t: t.fft.fft([1.0]), TypeError, r"argument 'input' \(position 1\) must be Tensor, not list"),
        (lambda t: t.fft.fft(t.ones(3), 2.5), TypeError, r"argument 'n' \(position 2\) must be int, not float"),
        (
            lambda t: t.fft.fft(t.ones(3), out=t.empty(3)),
            RuntimeError,
            "expects a complex output tensor, but got Float",
        ),
    ],
)
def test_what_is_refused(torch, call, kind, words):
    with pytest.raises(kind, match=words):
        call(torch)


def test_out(torch):
    out = torch.empty(0, dtype=torch.complex64)
    x = torch.tensor([1.0, 2.0])
    assert torch.fft.fft(x, out=out) is out
    assert out.tolist() == [3, -1]
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.fft.fft(x.requires_grad_(), out=out)


def test_frequencies_and_shifts(torch):
    assert torch.fft.fftfreq(5, 0.5).tolist() == pytest.approx([0, 0.4, 0.8, -0.8, -0.4])
    assert torch.fft.rfftfreq(5).tolist() == pytest.approx([0, 0.2, 0.4])
    assert torch.fft.fftfreq(0).shape == (0,)
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = torch.fft.fftshift(x)
    assert y.tolist() == [[5, 3, 4], [2, 0, 1]]
    assert torch.fft.ifftshift(y).tolist() == x.tolist()
    (g,) = torch.autograd.grad(torch.fft.fftshift(x, 1)[0, 0], x)
    assert g.tolist() == [[0, 0, 1], [0, 0, 0]]
