"""Windows, `stft` and `istft` against torch."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradpack

torch = pytest.importorskip("torch")
pytest.importorskip("torch.testing._internal.common_methods_invocations")

from tests.oracle.both import LIBRARIES, outcome  # noqa: E402
from tests.oracle.opinfo import report, table  # noqa: E402

NAMES = sorted(n for n in table() if n.startswith("signal.") or n == "stft")
PERIODIC = ["hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"]


@pytest.mark.parametrize("name", NAMES)
def test_torchs_samples(name):
    assert not report(name, table()[name], 12)


@pytest.mark.parametrize("name", PERIODIC)
def test_windows(name):
    for n in (0, 1, 2, 5, 8):
        for periodic in (True, False):
            for d in ("float32", "float64", "float16"):
                made = [getattr(lib, name)(n, periodic, dtype=getattr(lib, d)) for lib in LIBRARIES]
                np.testing.assert_allclose(made[0].numpy(), made[1].numpy(), atol=2e-3 if d == "float16" else 1e-6)
    assert np.allclose(gradpack.hamming_window(5, True, 0.4, 0.2).numpy(), torch.hamming_window(5, True, 0.4, 0.2))
    assert np.allclose(gradpack.kaiser_window(5, True, 3.0).numpy(), torch.kaiser_window(5, True, 3.0))


@pytest.mark.parametrize("name", PERIODIC)
@pytest.mark.parametrize("more", [{"dtype": "int64"}, {"dtype": "complex64"}, {"window_length": -1}])
def test_windows_refused(name, more):
    more = {"window_length": 4, **more}

    def call(lib):
        return getattr(lib, name)(**{k: getattr(lib, v) if k == "dtype" else v for k, v in more.items()})

    assert outcome(call, gradpack) is outcome(call, torch)


@pytest.mark.parametrize("name", torch.signal.windows.__all__)
def test_signal_windows_refuse_alike(name):
    for more in ({"dtype": "int64"}, {"dtype": "float16"}, {"M": -1}, {"tau": 0}, {"std": 0}, {"beta": -1}, {"a": 3}):
        more = {"M": 4, **({"a": [0.5, 0.5]} if name == "general_cosine" else {}), **more}

        def call(lib, more=more):
            words = {k: getattr(lib, v) if k == "dtype" else v for k, v in more.items()}
            try:
                getattr(lib.signal.windows, name)(**words)
            except Exception as error:
                said = str(error).partition(". It takes")[0]  # ours lists the keywords, too
                return [type(error).__name__, said.replace("torch.", "").replace("gradpack.", "")[:60]]
            return None

        assert outcome(call, gradpack) == outcome(call, torch)


def sine(lib, complex_input=False, n=24):
    x = lib.arange(2 * n, dtype=lib.float64).reshape(2, n).sin()
    return (lib.complex(x, x.cos()) if complex_input else x).requires_grad_()


SETTINGS = [
    {},
    {"hop_length": 3},
    {"win_length": 6},
    {"center": False, "hop_length": 4},
    {"center": False, "win_length": 6, "align_to_window": True},
    {"normalized": True},
    {"onesided": False},
    {"onesided": True, "pad_mode": "constant"},
    {"pad_mode": "replicate"},
    {"pad_mode": "circular"},
    {"return_complex": False},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_stft_and_its_gradients(settings):
    made = []
    for lib in LIBRARIES:
        x = sine(lib)
        w = (lib.hann_window(settings.get("win_length", 8), dtype=lib.float64) + 0.1).requires_grad_()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = lib.stft(x, 8, window=w, **{"return_complex": True, **settings})
        size = y.abs() if y.is_complex() else y
        gradients = lib.autograd.grad((size * size * size).sum(), (x, w), create_graph=True)
        second = lib.autograd.grad((gradients[0] ** 2).sum(), (x, w))
        made.append([t.detach().numpy() for t in (y, *gradients, *second)])
    for a, b in zip(*made, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"hop_length": 3},
        {"win_length": 6},
        {"normalized": True},
        {"length": 20},
        {"length": 30},
        {"return_complex": True, "onesided": False},
        {"onesided": False},
        {"center": False},
    ],
)
@pytest.mark.parametrize("alone", [False, True])
def test_istft_and_its_gradients(settings, alone):
    made = []
    for lib in LIBRARIES:
        w = (lib.hann_window(settings.get("win_length", 8), dtype=lib.float64) + 0.1).requires_grad_()
        side = {"onesided": False} if settings.get("onesided") is False else {}
        hop = {k: v for k, v in settings.items() if k in ("hop_length", "win_length")}
        z = lib.stft(sine(lib), 8, window=w, return_complex=True, **side, **hop).detach() + 0.3
        z = (z[0] if alone else z).requires_grad_()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = lib.istft(z, 8, window=w, **settings)
        gradients = lib.autograd.grad((y.abs() ** 3).sum(), (z, w))
        made.append([t.detach().numpy() for t in (y, *gradients)])
    for a, b in zip(*made, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


X = "t.arange(40.).reshape(2, 20).sin()"
BAD = f"""
t.stft({X}, 8, window=t.ones(8))
t.stft({X}, 8, window=t.ones(9), return_complex=True)
t.stft({X}, 8, hop_length=0, window=t.ones(8), return_complex=True)
t.stft({X}, 8, win_length=9, window=t.ones(9), return_complex=True)
t.stft({X}, 0, window=t.ones(0), return_complex=True)
t.stft({X}, 60, window=t.ones(60), return_complex=True)
t.stft({X}, 60, window=t.ones(60), center=False, return_complex=True)
t.stft({X}[None], 8, window=t.ones(8), return_complex=True)
t.stft({X}.long(), 8, window=t.ones(8), return_complex=True)
t.stft({X}, 8, window=t.ones(8) * 1j, onesided=True)
t.stft({X}, 8, window=t.ones(8), pad_mode='odd', return_complex=True)
t.stft({X}, 8, window=t.ones(8), align_to_window=True, return_complex=True)
t.istft(t.ones(2, 5, 11), 8, window=t.ones(8))
t.istft(t.ones(2, 5, 11) * 1j, 9, window=t.ones(8))
t.istft(t.ones(2, 5, 11) * 1j, 8, window=t.ones(8), onesided=False)
t.istft(t.ones(2, 5, 11) * 1j, 8, window=t.ones(8), hop_length=0)
t.istft(t.ones(2, 5, 11) * 1j, 8, window=t.ones(8), hop_length=9)
t.istft(t.ones(2, 5, 11) * 1j, 8, window=t.ones(9), win_length=9)
t.istft(t.ones(2, 5, 11) * 1j, 8, window=t.hann_window(8), center=False)
t.istft(t.ones(2, 5, 11) * 1j, 8, window=t.ones(8), return_complex=True)
t.istft(t.ones(2, 5, 11) * 1j, 8, window=t.ones(8) * 1j)
t.istft(t.ones(2, 0, 11) * 1j, 8, window=t.ones(8))
t.istft(t.ones(5) * 1j, 8, window=t.ones(8))
"""


@pytest.mark.parametrize("call", BAD.split("\n")[1:-1])
def test_what_is_refused(call):
    expected = outcome(lambda t: eval(call, {"t": t}), torch)
    assert isinstance(expected, type)
    assert outcome(lambda t: eval(call, {"t": t}), gradpack) is expected


def test_no_window_is_warned_of():
    with pytest.warns(UserWarning, match="A window was not provided"):  # by torch once only
        gradpack.stft(gradpack.ones(20), 8, return_complex=True)
