"""The optimisers against those of torch: same parameters, same gradients, several steps, every option."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradpack

torch = pytest.importorskip("torch")

SHAPES = [(3, 4), (5,), (), (300, 120), (0, 2)]  # the fourth is longer than one piece of the kernels
STEPS = 5

SGD = [
    {},
    {"momentum": 0.9},
    {"momentum": 0.9, "dampening": 0.3},
    {"momentum": 0.9, "nesterov": True},
    {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1, "maximize": True},
    {"weight_decay": 0.1},
    {"weight_decay": 0.1, "momentum": 0.5, "dampening": 0.5},
    {"maximize": True},
    {"maximize": True, "momentum": 0.9},
    {"lr": 0.0},
]
ADAM = [
    {},
    {"betas": (0.5, 0.6)},
    {"betas": (0.0, 0.0)},
    {"eps": 1e-2},
    {"weight_decay": 0.1},
    {"amsgrad": True},
    {"amsgrad": True, "weight_decay": 0.1, "maximize": True},
    {"maximize": True},
    {"lr": 0.0},
]
CASES = [
    *[("SGD", options) for options in SGD],
    *[("Adam", options) for options in [*ADAM, {"decoupled_weight_decay": True, "weight_decay": 0.1}]],
    *[("AdamW", options) for options in ADAM],
]
NAMES = [f"{name}-{'-'.join(f'{k}={v}' for k, v in options.items()) or 'defaults'}" for name, options in CASES]
cases = pytest.mark.parametrize(("name", "options"), CASES, ids=NAMES)


def numbers(dtype: str, step: int = 0, shapes: Any = SHAPES) -> list[Any]:
    rng = np.random.default_rng(step)
    arrays = [rng.normal(size=shape) for shape in shapes]
    if dtype.startswith("complex"):
        arrays = [array + 1j * rng.normal(size=array.shape) for array in arrays]
    return [np.asarray(array, dtype) for array in arrays]


def trained(
    lib: Any, name: str, options: dict[str, Any], dtype: str, steps: int = STEPS, transposed: bool = False
) -> Any:
    def tensor(array: Any) -> Any:
        made = lib.tensor(array)
        return made.T.contiguous().T if transposed and made.ndim == 2 else made

    params = [lib.nn.Parameter(tensor(array)) for array in numbers(dtype)]
    without_gradient = lib.nn.Parameter(lib.ones(2))
    optimizer = getattr(lib.optim, name)([*params, without_gradient], **{"lr": 0.05, **options})
    for step in range(steps):
        optimizer.zero_grad()
        for p, array in zip(params, numbers(dtype, step + 1), strict=True):
            p.grad = lib.tensor(array)
        optimizer.step()
    assert without_gradient.tolist() == [1.0, 1.0]
    return params, optimizer


def assert_same(ours: Any, theirs: Any, tolerance: float) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=tolerance, atol=tolerance)


def assert_same_state(ours: Any, theirs: Any, tolerance: float) -> None:
    a, b = ours.state_dict(), theirs.state_dict()
    assert a["param_groups"] == b["param_groups"]
    assert a["state"].keys() == b["state"].keys()
    for number, state in b["state"].items():
        assert a["state"][number].keys() == state.keys()
        for key, value in state.items():
            assert_same(a["state"][number][key], value, tolerance)


@cases
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float32", 3e-6), ("complex128", 1e-13)])
def test_parameters_and_state(name: str, options: dict[str, Any], dtype: str, tolerance: float) -> None:
    (ours, a), (theirs, b) = (trained(lib, name, options, dtype) for lib in (gradpack, torch))
    for p, q in zip(ours, theirs, strict=True):
        assert_same(p, q, tolerance)
    assert_same_state(a, b, tolerance)


@cases
def test_parameters_in_column_order(name: str, options: dict[str, Any]) -> None:
    (ours, _), (theirs, _) = (trained(lib, name, options, "float64", transposed=True) for lib in (gradpack, torch))
    for p, q in zip(ours, theirs, strict=True):
        assert_same(p, q, 1e-13)
        assert not p.numel() or p.stride() == q.stride()  # torch takes over NumPy's strides of what is empty


@cases
@pytest.mark.parametrize("low", ["bfloat16", "float16"])
def test_low_precision_is_as_near_to_the_truth_as_torch(name: str, options: dict[str, Any], low: str) -> None:
    """Ours rounds once in each step, torch after each operation: both are near the result of float64."""
    results = []
    for lib in (gradpack, torch):
        dtype = getattr(lib, low)
        params = [lib.nn.Parameter(lib.tensor(array).to(dtype)) for array in numbers("float32", 0, [(40, 5)])]
        truth = [lib.nn.Parameter(p.detach().double()) for p in params]
        for group in (params, truth):
            optimizer = getattr(lib.optim, name)(group, **{"lr": 0.05, **options})
            for step in range(3):
                for p, array in zip(group, numbers("float32", step + 1, [(40, 5)]), strict=True):
                    p.grad = lib.tensor(array).to(dtype).to(p.dtype)
                optimizer.step()
        error = (params[0].detach().double() - truth[0].detach()).abs().max().item()
        results.append(
            (error, params[0].dtype, [str(v.dtype) for v in optimizer.state_dict()["state"].get(0, {}).values()])
        )
    ours, theirs = results
    assert ours[0] <= (1.5 * theirs[0] + 1e-12 if theirs[0] == theirs[0] else 0.01)  # torch's eps is 0 in float16
    assert str(ours[1]).split(".")[1] == str(theirs[1]).split(".")[1]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_a_tensor_as_learning_rate(name: str) -> None:
    for shape in [(), (1,)]:
        results = []
        for lib in (gradpack, torch):
            lr = lib.full(shape, 0.05, dtype=lib.float64)
            params, _ = trained(lib, name, {"lr": lr, "weight_decay": 0.1}, "float64")
            results.append(params)
        for p, q in zip(*results, strict=True):
            assert_same(p, q, 1e-13)


def test_tensors_as_betas() -> None:
    results = []
    for lib in (gradpack, torch):
        betas = (lib.tensor(0.8, dtype=lib.float64), lib.tensor([0.95], dtype=lib.float64))
        results.append(trained(lib, "Adam", {"betas": betas}, "float64")[0])
    for p, q in zip(*results, strict=True):
        assert_same(p, q, 1e-13)


@cases
def test_loaded_state_goes_on_where_it_was(name: str, options: dict[str, Any]) -> None:
    """torch's state, as numbers, in our optimiser: the next steps are the same."""
    (ours, _), (theirs, b) = (trained(lib, name, options, "float64", steps=2) for lib in (gradpack, torch))
    saved = b.state_dict()
    saved["state"] = {
        number: {key: gradpack.core(value.numpy()) for key, value in state.items()}
        for number, state in saved["state"].items()
    }
    fresh = getattr(gradpack.optim, name)([*ours, gradpack.nn.Parameter(gradpack.ones(2))], lr=0.7)
    fresh.load_state_dict(saved)
    for optimizer, params, lib in ((fresh, ours, gradpack), (b, theirs, torch)):
        for step in range(2):
            for p, array in zip(params, numbers("float64", 10 + step), strict=True):
                p.grad = lib.tensor(array)
            optimizer.step()
    for p, q in zip(ours, theirs, strict=True):
        assert_same(p, q, 1e-13)
    assert_same_state(fresh, b, 1e-13)


def differentiated_steps(name: str, options: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Ours and torch's: parameters after three steps, and gradients by where they started and by the gradients."""
    results = []
    for lib in (gradpack, torch):
        start = lib.tensor(numbers("float64", 0, [(4,)])[0], requires_grad=True)
        gradients = [lib.tensor(numbers("float64", step, [(4,)])[0], requires_grad=True) for step in (1, 2, 3)]
        p = start.clone()
        optimizer = getattr(lib.optim, name)([p], **{"lr": 0.05, **options, "differentiable": True})
        for g in gradients:
            p.grad = g
            optimizer.step()
        (p * lib.arange(4)).sum().backward()
        results.append([p, start.grad, *[g.grad for g in gradients]])
    return zip(*results, strict=True)


DIFFERENTIABLE = [
    ("SGD", {}),
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9, "dampening": 0.2, "maximize": True}),
    ("Adam", {}),
    ("Adam", {"weight_decay": 0.1}),  # and no amsgrad: torch overwrites there what it saved
    ("AdamW", {"maximize": True}),
]


@pytest.mark.parametrize(("name", "options"), DIFFERENTIABLE)
def test_gradients_through_the_steps(name: str, options: dict[str, Any]) -> None:
    for ours, theirs in differentiated_steps(name, options):
        if theirs is None:  # the first momentum buffer is a constant
            assert ours is None
        else:
            # When it records Adam, torch counts the steps in float32 and corrects the bias in it.
            assert_same(ours, theirs, 1e-10 if name == "SGD" else 1e-4)


def test_gradient_of_the_learning_rate() -> None:
    for name, options in [("SGD", {}), ("SGD", {"weight_decay": 0.1}), ("Adam", {}), ("AdamW", {})]:
        results = []
        for lib in (gradpack, torch):
            lr = lib.tensor(0.05, dtype=lib.float64, requires_grad=True)
            p = lib.tensor(numbers("float64", 0, [(4,)])[0], requires_grad=True).clone()
            optimizer = getattr(lib.optim, name)([p], lr=lr, differentiable=True, **options)
            for step in (1, 2):
                p.grad = lib.tensor(numbers("float64", step, [(4,)])[0])
                optimizer.step()
            p.sum().backward()
            results.append(lr.grad)
        assert_same(*results, 1e-10 if name == "SGD" else 1e-4)


def schedules(lib: Any, optimizer: Any) -> dict[str, Any]:
    module = lib.optim.lr_scheduler
    return {
        "lambda": lambda: module.LambdaLR(optimizer, lambda epoch: 0.9**epoch),
        "lambdas": lambda: module.LambdaLR(optimizer, [lambda epoch: 0.9**epoch, lambda epoch: 1 + epoch]),
        "step": lambda: module.StepLR(optimizer, 3, gamma=0.5),
        "cosine": lambda: module.CosineAnnealingLR(optimizer, 4, eta_min=0.01),
    }


@pytest.mark.parametrize("kind", ["lambda", "lambdas", "step", "cosine"])
@pytest.mark.parametrize("as_tensor", [False, True])
def test_schedules(kind: str, as_tensor: bool) -> None:
    results = []
    for lib in (gradpack, torch):
        rates = [lib.tensor(rate, dtype=lib.float64) if as_tensor else rate for rate in (0.1, 0.4)]
        groups = [{"params": [lib.nn.Parameter(lib.ones(1))], "lr": rate} for rate in rates]
        optimizer = lib.optim.SGD(groups)
        schedule = schedules(lib, optimizer)[kind]()
        seen = [[float(rate) for rate in schedule.get_last_lr()]]
        for _ in range(11):
            optimizer.step()
            schedule.step()
            seen.append([float(rate) for rate in schedule.get_last_lr()])
            assert [float(group["lr"]) for group in optimizer.param_groups] == seen[-1]
        results.append((seen, sorted(schedule.state_dict())))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-12)
    ours, theirs = (set(names) for _, names in results)
    assert theirs - ours == set()


NORMS = [1, 2, 3.5, 0, "inf", float("inf"), -1.0, float("-inf")]
NORMS_AND_DTYPES = [(norm, dtype) for norm in NORMS for dtype in ("float32", "float64", "complex64")]
NORMS_AND_DTYPES.remove((0, "complex64"))  # there torch warns of its own conversion


@pytest.mark.parametrize(("norm_type", "dtype"), NORMS_AND_DTYPES)
@pytest.mark.parametrize("max_norm", [0.5, 1e6])
def test_clipping_by_norm(norm_type: Any, dtype: str, max_norm: float) -> None:
    shapes = [(3, 4), (5,), (), (150, 120)]
    results = []
    for lib in (gradpack, torch):
        params = [lib.nn.Parameter(lib.tensor(array)) for array in numbers(dtype, 0, shapes)]
        for p, array in zip(params, numbers(dtype, 1, shapes), strict=True):
            p.grad = lib.tensor(array)
        params.append(lib.nn.Parameter(lib.ones(1)))
        total = lib.nn.utils.clip_grad_norm_(params, max_norm, norm_type)
        results.append([total, *[p.grad for p in params[:-1]]])
    for ours, theirs in zip(*results, strict=True):
        assert_same(ours, theirs, 1e-5 if dtype != "float64" else 1e-12)


def test_clipping_by_value() -> None:
    results = []
    for lib in (gradpack, torch):
        p = lib.nn.Parameter(lib.zeros(6))
        p.grad = lib.tensor([-3.0, -1.0, -0.5, 0.5, float("inf"), float("nan")])
        lib.nn.utils.clip_grad_value_([p], 1)
        results.append(p.grad)
    assert_same(*results, 0)


ERRORS = {
    "negative lr": lambda lib, p: lib.optim.SGD([p], -1),
    "negative momentum": lambda lib, p: lib.optim.SGD([p], momentum=-1),
    "negative decay": lambda lib, p: lib.optim.AdamW([p], weight_decay=-1),
    "negative eps": lambda lib, p: lib.optim.Adam([p], eps=-1),
    "nothing": lambda lib, p: lib.optim.SGD([]),
    "a tensor": lambda lib, p: lib.optim.SGD(p),
    "a number": lambda lib, p: lib.optim.SGD(3),
    "not a leaf": lambda lib, p: lib.optim.SGD([p * 1]),
    "not a tensor": lambda lib, p: lib.optim.SGD([3]),
    "lr with elements": lambda lib, p: lib.optim.SGD([p], lr=lib.ones(2)),
    "some names": lambda lib, p: lib.optim.SGD([p, ("a", lib.zeros(1, requires_grad=True))]),
    "twice": lambda lib, p: lib.optim.SGD([{"params": [p]}, {"params": [p]}]),
    "a set": lambda lib, p: lib.optim.SGD([{"params": {p}}]),
    "nesterov": lambda lib, p: lib.optim.SGD([p], nesterov=True),
    "fused and foreach": lambda lib, p: lib.optim.SGD([p], fused=True, foreach=True),
    "fused and differentiable": lambda lib, p: lib.optim.Adam([p], fused=True, differentiable=True),
    "beta of one": lambda lib, p: lib.optim.Adam([p], betas=(1.0, 0.9)),
    "beta of an int": lambda lib, p: lib.optim.Adam([p], betas=(0, 0.9)),
    "lr tensor and foreach": lambda lib, p: lib.optim.Adam([p], lr=lib.tensor(0.1), foreach=True),
    "no params": lambda lib, p: lib.optim.SGD([{"lr": 1}]),
    "group of a number": lambda lib, p: lib.optim.SGD([p]).add_param_group(3),
    "other groups": lambda lib, p: lib.optim.SGD([p]).load_state_dict({"param_groups": [], "state": {}}),
    "other sizes": lambda lib, p: lib.optim.SGD([p]).load_state_dict(
        {"param_groups": [{"params": [0, 1]}], "state": {}}
    ),
    "no step": lambda lib, p: lib.optim.Optimizer([p], {}).step(),
    "not an optimizer": lambda lib, p: lib.optim.lr_scheduler.StepLR(3, 1),
    "schedule without start": lambda lib, p: lib.optim.lr_scheduler.StepLR(lib.optim.SGD([p]), 1, last_epoch=2),
    "number of lambdas": lambda lib, p: lib.optim.lr_scheduler.LambdaLR(lib.optim.SGD([p]), [abs, abs]),
    "norm of nothing finite": lambda lib, p: lib.nn.utils.get_total_norm(
        [lib.tensor([float("nan")])], error_if_nonfinite=True
    ),
    "norm of integers": lambda lib, p: lib.nn.utils.get_total_norm([lib.tensor([1])]),
}


@pytest.mark.parametrize("what", ERRORS)
def test_errors_have_the_same_type(what: str) -> None:
    raised = []
    for lib in (gradpack, torch):
        with pytest.raises(Exception) as error:
            ERRORS[what](lib, lib.nn.Parameter(lib.ones(2)))
        raised.append(error.type)
    assert raised[0] is raised[1]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_printout(name: str) -> None:
    a, b = (getattr(lib.optim, name)([("w", lib.nn.Parameter(lib.ones(2)))], lr=0.3) for lib in (gradpack, torch))
    assert repr(a) == repr(b)
    assert a.defaults == b.defaults
