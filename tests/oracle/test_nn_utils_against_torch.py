"""Parametrisations, weight and spectral normalisation, functional calls: against those of torch."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import pytest
from tests.oracle.both import LIBRARIES, comparable, linear

torch = pytest.importorskip("torch")


def said(job: Any, lib: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return rounded(comparable(job(lib)))
        except Exception as error:
            return type(error).__name__, str(error).replace("gradpack.", "torch.")


def rounded(value: Any) -> Any:
    """Floats to five digits."""
    if isinstance(value, float):
        return round(value, 5) + 0.0
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, list | tuple) else value


def pz(lib: Any) -> Any:
    return lib.nn.utils.parametrize


def kinds(lib: Any) -> Any:
    class Symmetric(lib.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).T

        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    class Doubled(lib.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return x * 2

        def right_inverse(self, x: Any) -> Any:
            return x / 2

    class Sum(lib.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any, y: Any) -> Any:
            return x + y

        def right_inverse(self, z: Any) -> Any:
            return z * 0.25, z * 0.75

    class Plain(lib.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return x + 1

    class Narrow(lib.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return x[:1]

    return {"symmetric": Symmetric, "doubled": Doubled, "sum": Sum, "plain": Plain, "narrow": Narrow}


def with_all(lib: Any, *names: str) -> Any:
    layer = linear(lib)
    for n in names:
        pz(lib).register_parametrization(layer, "weight", kinds(lib)[n]())
    return layer


def trained(lib: Any, layer: Any) -> Any:
    layer(lib.ones(1, 2)).sum().backward()
    return {n: None if p.grad is None else p.grad.tolist() for n, p in layer.named_parameters()}


def assigned(lib: Any, layer: Any) -> Any:
    layer.weight = lib.tensor([[1.0, 2.0], [2.0, 5.0]])
    return [layer.weight, layer.state_dict()]


def twice(lib: Any) -> Any:
    layer = with_all(lib, "doubled")
    with pz(lib).cached():
        first = layer.weight is layer.weight
    return [first, layer.weight is layer.weight]


def old_weight_norm(lib: Any, remove: bool) -> Any:
    layer = lib.nn.utils.weight_norm(linear(lib), dim=None)
    grads = trained(lib, layer)
    if remove:
        lib.nn.utils.remove_weight_norm(layer)
    return [grads, layer.state_dict(), len(layer._forward_pre_hooks), layer.weight]


def old_spectral_norm(lib: Any, remove: bool) -> Any:
    layer = lib.nn.utils.spectral_norm(linear(lib), n_power_iterations=3)
    layer.weight_u.copy_(lib.tensor([0.6, 0.8]))
    layer.weight_v.copy_(lib.tensor([0.8, 0.6]))
    grads = trained(lib, layer)
    if remove:
        lib.nn.utils.remove_spectral_norm(layer)
    return [grads, layer.state_dict()]


def spectral(lib: Any) -> Any:
    layer = linear(lib)
    lib.nn.utils.parametrizations.spectral_norm(layer, n_power_iterations=50)
    grads = trained(lib, layer)
    return [
        sorted(layer.state_dict()),
        layer.weight.mul(1000).round(),
        {k: lib.tensor(g).mul(100).round() for k, g in grads.items()},
    ]


def weight_normed(lib: Any) -> Any:
    layer = lib.nn.utils.parametrizations.weight_norm(linear(lib))
    before = [layer.state_dict(), trained(lib, layer), repr(layer)]
    layer.weight = lib.tensor([[3.0, 4.0], [6.0, 8.0]])
    old = {"weight_g": lib.ones(2, 1), "weight_v": lib.tensor([[0.0, 2.0], [2.0, 0.0]]), "bias": lib.zeros(2)}
    middle = copy.deepcopy(layer.state_dict())
    layer.load_state_dict(old)
    return [before, middle, layer.weight]


def call(lib: Any, own: Any, **options: Any) -> Any:
    return lib.nn.utils.stateless.functional_call(linear(lib), own, lib.ones(1, 2), **options)


def tied(lib: Any, own: Any, **options: Any) -> Any:
    net = lib.nn.Sequential(linear(lib), linear(lib))
    net[1].weight = net[0].weight
    return lib.nn.utils.stateless.functional_call(net, own, (lib.ones(1, 2),), **options)


def counted(lib: Any) -> Any:
    class Counter(lib.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("n", lib.zeros(1))

        def forward(self) -> Any:
            self.n = self.n + 1
            return self.n

    module, own = Counter(), {"n": lib.ones(1)}
    return [lib.nn.utils.stateless.functional_call(module, own, ()), own, module.n]


JOBS: dict[str, Any] = {
    "symmetric": lambda lib: [with_all(lib, "symmetric").weight, repr(with_all(lib, "symmetric"))],
    "state": lambda lib: with_all(lib, "symmetric", "doubled").state_dict(),
    "gradients": lambda lib: trained(lib, with_all(lib, "symmetric", "doubled")),
    "gradients of several": lambda lib: trained(lib, with_all(lib, "sum")),
    "assign": lambda lib: assigned(lib, with_all(lib, "symmetric", "doubled")),
    "assign several": lambda lib: assigned(lib, with_all(lib, "sum")),
    "assign without inverse": lambda lib: assigned(lib, with_all(lib, "plain")),
    "narrow": lambda lib: with_all(lib, "narrow"),
    "narrow second": lambda lib: with_all(lib, "doubled", "narrow"),
    "unknown": lambda lib: pz(lib).register_parametrization(lib.nn.ReLU(), "x", kinds(lib)["plain"]()),
    "type": lambda lib: [type(with_all(lib, "sum")).__name__, isinstance(with_all(lib, "sum"), lib.nn.Linear)],
    "type before": lambda lib: pz(lib).type_before_parametrizations(with_all(lib, "sum")).__name__,
    "cached": twice,
    "copied": lambda lib: copy.deepcopy(with_all(lib, "doubled")).weight,
    "remove": lambda lib: pz(lib).remove_parametrizations(with_all(lib, "doubled"), "weight").state_dict(),
    "remove to the original": lambda lib: (
        pz(lib).remove_parametrizations(with_all(lib, "doubled"), "weight", False).state_dict()
    ),
    "remove several": lambda lib: pz(lib).remove_parametrizations(with_all(lib, "sum"), "weight").state_dict(),
    "remove several to the originals": lambda lib: pz(lib).remove_parametrizations(
        with_all(lib, "sum"), "weight", False
    ),
    "remove nothing": lambda lib: pz(lib).remove_parametrizations(linear(lib), "weight"),
    "is": lambda lib: [pz(lib).is_parametrized(with_all(lib, "sum"), n) for n in (None, "weight", "bias")],
    "weight_norm": weight_normed,
    "weight_norm by hook": lambda lib: old_weight_norm(lib, False),
    "weight_norm removed": lambda lib: old_weight_norm(lib, True),
    "weight_norm twice": lambda lib: lib.nn.utils.weight_norm(lib.nn.utils.weight_norm(linear(lib))),
    "weight_norm not there": lambda lib: lib.nn.utils.remove_weight_norm(linear(lib)),
    "spectral_norm": spectral,
    "spectral_norm by hook": lambda lib: old_spectral_norm(lib, False),
    "spectral_norm removed": lambda lib: old_spectral_norm(lib, True),
    "spectral_norm not there": lambda lib: lib.nn.utils.remove_spectral_norm(linear(lib)),
    "call": lambda lib: call(lib, {"weight": lib.zeros(2, 2)}),
    "call strictly": lambda lib: call(lib, {"weight": lib.zeros(2, 2)}, strict=True),
    "call strictly with more": lambda lib: call(lib, {"x": lib.zeros(2, 2)}, strict=True),
    "call tied": lambda lib: tied(lib, {"0.weight": lib.zeros(2, 2)}),
    "call untied": lambda lib: tied(lib, {"0.weight": lib.zeros(2, 2)}, tie_weights=False),
    "call with two values": lambda lib: tied(lib, {"0.weight": lib.zeros(2, 2), "1.weight": lib.ones(2, 2)}),
    "call that counts": counted,
    "clip": lambda lib: lib.nn.utils.clip_grad_norm([], 1.0),
}


@pytest.mark.parametrize("name", JOBS)
def test_same(name: str) -> None:
    ours, theirs = (said(JOBS[name], lib) for lib in LIBRARIES)
    assert ours == theirs
