"""Layers and losses against those of torch: values, gradients, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.oracle.both import LIBRARIES, outcome

import gradpack

torch = pytest.importorskip("torch")


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape) for shape in shapes]


def set_weights(lib: Any, module: Any) -> None:
    rng = np.random.default_rng(1)
    with lib.no_grad():
        for p in module.parameters():
            p.copy_(lib.tensor(rng.normal(size=tuple(p.shape))))


COMPUTED = {
    "Linear": (lambda nn: nn.Linear(4, 3), (5, 4)),
    "Linear of a vector": (lambda nn: nn.Linear(4, 3, bias=False), (4,)),
    "LayerNorm": (lambda nn: nn.LayerNorm((3, 4)), (2, 3, 4)),
    "LayerNorm without bias": (lambda nn: nn.LayerNorm(4, bias=False, eps=0.1), (2, 3, 4)),
    "RMSNorm": (lambda nn: nn.RMSNorm((3, 4)), (2, 3, 4)),
    "RMSNorm with eps": (lambda nn: nn.RMSNorm(4, eps=0.1, elementwise_affine=False), (2, 3, 4)),
    "ReLU": (lambda nn: nn.ReLU(), (3, 4)),
    "LeakyReLU": (lambda nn: nn.LeakyReLU(0.3), (3, 4)),
    "ELU": (lambda nn: nn.ELU(0.7), (3, 4)),
    "GELU": (lambda nn: nn.GELU(), (3, 4)),
    "GELU tanh": (lambda nn: nn.GELU("tanh"), (3, 4)),
    "SiLU": (lambda nn: nn.SiLU(), (3, 4)),
    "Tanh": (lambda nn: nn.Tanh(), (3, 4)),
    "Sigmoid": (lambda nn: nn.Sigmoid(), (3, 4)),
    "Softplus": (lambda nn: nn.Softplus(2.0, 1.0), (3, 4)),
    "Softmax": (lambda nn: nn.Softmax(0), (3, 4)),
    "Hardtanh(-0.5, 0.8)": (lambda nn: nn.Hardtanh(-0.5, 0.8), (3, 4)),
    "ReLU6()": (lambda nn: nn.ReLU6(), (3, 4)),
    "Mish()": (lambda nn: nn.Mish(), (3, 4)),
    "CELU(2.0)": (lambda nn: nn.CELU(2.0), (3, 4)),
    "SELU()": (lambda nn: nn.SELU(), (3, 4)),
    "Hardswish()": (lambda nn: nn.Hardswish(), (3, 4)),
    "Hardsigmoid()": (lambda nn: nn.Hardsigmoid(), (3, 4)),
    "Hardshrink(0.3)": (lambda nn: nn.Hardshrink(0.3), (3, 4)),
    "Softshrink(0.3)": (lambda nn: nn.Softshrink(0.3), (3, 4)),
    "LogSigmoid()": (lambda nn: nn.LogSigmoid(), (3, 4)),
    "PReLU(4)": (lambda nn: nn.PReLU(4), (3, 4)),
    "Softsign()": (lambda nn: nn.Softsign(), (3, 4)),
    "Tanhshrink()": (lambda nn: nn.Tanhshrink(), (3, 4)),
    "Threshold(0.1, 2.0)": (lambda nn: nn.Threshold(0.1, 2.0), (3, 4)),
    "Softmin(0)": (lambda nn: nn.Softmin(0), (3, 4)),
    "GLU(1)": (lambda nn: nn.GLU(1), (3, 4)),
    "LogSoftmax": (lambda nn: nn.LogSoftmax(-1), (3, 4)),
    "Flatten": (lambda nn: nn.Flatten(), (3, 4, 2)),
    "Unflatten": (lambda nn: nn.Unflatten(1, (2, 2)), (3, 4)),
    "Dropout in eval": (lambda nn: nn.Dropout().eval(), (3, 4)),
    "net": (lambda nn: nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2), nn.LayerNorm(2)), (5, 4)),
}


@pytest.mark.parametrize("name", COMPUTED)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-11), ("float32", 2e-5)])
def test_values_and_gradients(name: str, dtype: str, tolerance: float) -> None:
    build, shape = COMPUTED[name]
    if name == "Hardsigmoid()":
        tolerance = 1e-7  # torch has 1/6 in float32 there, whatever the dtype
    results = []
    for lib in LIBRARIES:
        module = build(lib.nn).to(getattr(lib, dtype))
        set_weights(lib, module)
        x = lib.tensor(arrays(shape)[0], dtype=getattr(lib, dtype), requires_grad=True)
        out = module(x)
        seed = lib.tensor(np.cos(np.arange(out.numel())).reshape(tuple(out.shape)), dtype=out.dtype)
        out.backward(seed)
        results.append([out.detach(), x.grad, *[p.grad for p in module.parameters()]])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=tolerance, atol=tolerance)


LOSSES = {
    "MSELoss": lambda nn: nn.MSELoss(),
    "MSELoss sum": lambda nn: nn.MSELoss(reduction="sum"),
    "L1Loss": lambda nn: nn.L1Loss(),
    "L1Loss none": lambda nn: nn.L1Loss(reduction="none"),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_numbers(name: str) -> None:
    results = []
    for lib in LIBRARIES:
        x, y = (lib.tensor(array, requires_grad=True) for array in arrays((3, 4), (3, 4)))
        loss = LOSSES[name](lib.nn)(x, y)
        loss.sum().backward()
        results.append([loss.detach(), x.grad, y.grad])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)


@pytest.mark.parametrize("kind", ["CrossEntropyLoss", "NLLLoss"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [True, False])
def test_losses_of_classes(kind: str, reduction: str, weighted: bool) -> None:
    results = []
    for lib in LIBRARIES:
        scores, weight = (lib.tensor(array) for array in arrays((5, 4), (4,)))
        scores.requires_grad_()
        options: dict[str, Any] = {"reduction": reduction, "ignore_index": 2}
        if weighted:
            options["weight"] = weight.abs()
        if kind == "CrossEntropyLoss":
            options["label_smoothing"] = 0.1
        loss = getattr(lib.nn, kind)(**options)(scores, lib.tensor([0, 1, 2, 3, 1]))
        loss.sum().backward()
        results.append([loss.detach(), scores.grad])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-10)


def test_weight_of_a_loss_is_a_buffer() -> None:
    for lib in LIBRARIES:
        loss = lib.nn.NLLLoss(weight=lib.ones(3))
        assert list(loss.state_dict()) == ["weight"]
        assert list(lib.nn.NLLLoss().state_dict()) == []


@pytest.mark.parametrize("flags", [{"reduce": False}, {"size_average": False}, {"size_average": True}])
def test_old_flags_of_losses(flags: dict[str, bool]) -> None:
    found = []
    for lib in LIBRARIES:
        with pytest.warns(UserWarning, match="size_average and reduce"):
            found.append(lib.nn.MSELoss(**flags).reduction)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "options",
    [{}, {"padding_idx": 1}, {"max_norm": 0.5}, {"max_norm": 0.5, "norm_type": 1.0}, {"scale_grad_by_freq": True}],
)
def test_embedding(options: dict[str, Any]) -> None:
    results = []
    for lib in LIBRARIES:
        layer = lib.nn.Embedding.from_pretrained(lib.tensor(arrays((4, 3))[0]), freeze=False, **options)
        out = layer(lib.tensor([[1, 2, 1], [0, 1, 3]]))
        (out * lib.arange(18).view(2, 3, 3)).sum().backward()
        results.append([out.detach(), layer.weight.detach(), layer.weight.grad])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-10)


LAYER_ERRORS = {
    "dropout": lambda lib: lib.nn.Dropout(1.5),
    "padding": lambda lib: lib.nn.Embedding(3, 2, padding_idx=3),
    "shape of weight": lambda lib: lib.nn.Embedding(3, 2, _weight=lib.ones(2, 2)),
    "table with one dimension": lambda lib: lib.nn.Embedding.from_pretrained(lib.ones(2)),
    "unflatten to a float": lambda lib: lib.nn.Unflatten(1, (2.0, 3)),
    "unflatten to an int": lambda lib: lib.nn.Unflatten(1, 6),
    "linear of the wrong size": lambda lib: lib.nn.Linear(2, 3)(lib.ones(4)),
    "norm of the wrong size": lambda lib: lib.nn.LayerNorm(2)(lib.ones(4)),
    "gain": lambda lib: lib.nn.init.calculate_gain("nothing"),
    "slope": lambda lib: lib.nn.init.calculate_gain("leaky_relu", "a"),
    "fan of a vector": lambda lib: lib.nn.init.xavier_uniform_(lib.ones(3)),
    "mode": lambda lib: lib.nn.init.kaiming_normal_(lib.ones(3, 3), mode="fan"),
    "eye": lambda lib: lib.nn.init.eye_(lib.ones(3)),
    "dirac": lambda lib: lib.nn.init.dirac_(lib.ones(3)),
    "dirac groups": lambda lib: lib.nn.init.dirac_(lib.ones(3, 3, 3), 2),
    "orthogonal": lambda lib: lib.nn.init.orthogonal_(lib.ones(3)),
    "sparse": lambda lib: lib.nn.init.sparse_(lib.ones(3), 0.5),
    "parameter of integers": lambda lib: lib.nn.Parameter(lib.ones(2, dtype=lib.int64)),
}


@pytest.mark.parametrize("name", LAYER_ERRORS)
def test_errors_have_the_same_type(name: str) -> None:
    ours, theirs = (outcome(LAYER_ERRORS[name], lib) for lib in LIBRARIES)
    assert ours is theirs
    assert issubclass(ours, Exception)


def test_gains() -> None:
    names = ["linear", "conv1d", "conv_transpose3d", "sigmoid", "tanh", "relu", "selu", "leaky_relu"]
    for name in names:
        assert gradpack.nn.init.calculate_gain(name) == torch.nn.init.calculate_gain(name)
    assert gradpack.nn.init.calculate_gain("leaky_relu", 0.3) == torch.nn.init.calculate_gain("leaky_relu", 0.3)


@pytest.mark.parametrize(("shape", "groups"), [((4, 3, 3), 1), ((4, 2, 3, 5), 2), ((2, 5, 1, 2, 3), 1)])
def test_dirac(shape: tuple[int, ...], groups: int) -> None:
    ours, theirs = (lib.nn.init.dirac_(lib.ones(*shape), groups).tolist() for lib in LIBRARIES)
    assert ours == theirs
