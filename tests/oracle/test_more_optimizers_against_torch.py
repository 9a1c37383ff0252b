"""The optimisers that are given by a formula, against those of torch: equal parameters and equal states."""

from __future__ import annotations

from typing import Any

import pytest

import gradpack

from .test_optim_against_torch import assert_same, assert_same_state, differentiated_steps, numbers, trained

torch = pytest.importorskip("torch")

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "Adagrad": [{}, {"lr_decay": 0.1, "weight_decay": 0.1}, {"initial_accumulator_value": 0.5}, {"maximize": True}],
    "Adadelta": [{}, {"rho": 0.5, "eps": 1e-3}, {"weight_decay": 0.1, "maximize": True}],
    "RMSprop": [
        {},
        {"alpha": 0.5, "eps": 1e-2},
        {"momentum": 0.9},
        {"centered": True, "eps": 1e-2},
        {"centered": True, "momentum": 0.5, "weight_decay": 0.1, "maximize": True, "eps": 1e-2},
    ],
    "Rprop": [{}, {"etas": (0.3, 1.5), "step_sizes": (1e-3, 0.06)}, {"maximize": True}],
    "Adamax": [{}, {"betas": (0.5, 0.6), "weight_decay": 0.1}, {"maximize": True}],
    "NAdam": [
        {},
        {"betas": (0.5, 0.6), "weight_decay": 0.1},
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
        {"momentum_decay": 0.1},
    ],
    "RAdam": [{}, {"betas": (0.5, 0.6), "weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "ASGD": [{}, {"lambd": 0.1, "alpha": 0.5, "t0": 2.0, "weight_decay": 0.1}, {"maximize": True}],
    "Adafactor": [{}, {"weight_decay": 0.1, "maximize": True}, {"eps": (1e-3, 1e-2), "beta2_decay": -0.5, "d": 2.0}],
}
CASES = [(name, options) for name, all_of in OPTIONS.items() for options in all_of]
cases = pytest.mark.parametrize(("name", "options"), CASES, ids=[f"{n}-{'-'.join(o) or 'defaults'}" for n, o in CASES])


@cases
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 2e-5), ("complex128", 1e-12)])
def test_parameters_and_state(name: str, options: dict[str, Any], dtype: str, tolerance: float) -> None:
    if name == "Adafactor":
        shapes = [(3, 4), (5,), (2, 3, 4)]
        if dtype == "complex128":
            for lib in (gradpack, torch):
                p = lib.ones(2, dtype=lib.complex128).requires_grad_()
                p.grad = lib.ones_like(p)
                with pytest.raises(RuntimeError, match="Adafactor does not support complex parameters"):
                    lib.optim.Adafactor([p]).step()
            return
        results = [_trained(lib, name, options, dtype, shapes) for lib in (gradpack, torch)]
    else:
        results = [trained(lib, name, options, dtype, steps=8) for lib in (gradpack, torch)]
    (ours, a), (theirs, b) = results
    for p, q in zip(ours, theirs, strict=True):
        assert_same(p, q, tolerance)
    assert_same_state(a, b, tolerance)


def _trained(lib: Any, name: str, options: dict[str, Any], dtype: str, shapes: Any) -> Any:
    params = [lib.nn.Parameter(lib.tensor(array)) for array in numbers(dtype, 0, shapes)]
    optimizer = getattr(lib.optim, name)(params, **{"lr": 0.05, **options})
    for step in range(6):
        for p, array in zip(params, numbers(dtype, step + 1, shapes), strict=True):
            p.grad = lib.tensor(array)
        optimizer.step()
    return params, optimizer


@cases
def test_low_precision(name: str, options: dict[str, Any]) -> None:
    """Ours rounds once in each step, torch after each operation."""
    results = []
    for lib in (gradpack, torch):
        p = lib.nn.Parameter(lib.tensor(numbers("float32", 0, [(4, 5)])[0]).to(lib.bfloat16))
        optimizer = getattr(lib.optim, name)([p], **{"lr": 0.05, **options})
        for step in range(3):
            p.grad = lib.tensor(numbers("float32", step + 1, [(4, 5)])[0]).to(lib.bfloat16)
            optimizer.step()
        results.append((p, optimizer))
    (ours, a), (theirs, b) = results
    error = (ours.detach().float().numpy() - theirs.detach().float().numpy()).__abs__().max()
    assert error < 0.1 and str(ours.dtype).endswith("bfloat16")
    kinds = [{k: str(v.dtype).split(".")[1] for k, v in x.state_dict()["state"][0].items()} for x in (a, b)]
    assert kinds[0] == kinds[1]


DIFFERENTIABLE = ["Adagrad", "Adadelta", "RMSprop", "NAdam", "RAdam", "ASGD"]  # torch overwrites what Adamax saved


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_through_the_steps(name: str) -> None:
    for ours, theirs in differentiated_steps(name, {}):
        assert_same(ours, theirs, 1e-8)


WRONG: list[tuple[str, dict[str, Any]]] = [
    *[(name, {"lr": -1.0}) for name in (*OPTIONS, "SparseAdam", "LBFGS")],
    *[(name, {"weight_decay": -1.0}) for name in OPTIONS if name != "Rprop"],
    ("Adagrad", {"lr_decay": -1.0}),
    ("Adagrad", {"initial_accumulator_value": -1.0}),
    ("Adadelta", {"rho": 1.5}),
    ("Adadelta", {"eps": -1.0}),
    ("RMSprop", {"momentum": -1.0}),
    ("RMSprop", {"alpha": -1.0}),
    ("Rprop", {"etas": (1.5, 1.2)}),
    *[(name, {"betas": (1.0, 0.5)}) for name in ("Adamax", "NAdam", "RAdam", "SparseAdam")],
    ("NAdam", {"momentum_decay": -1.0}),
    ("Adafactor", {"d": 0.5}),
    ("Adafactor", {"beta2_decay": 0.5}),
    ("Adafactor", {"eps": (-1.0, 1.0)}),
    ("SparseAdam", {"lr": 0.0}),
]


@pytest.mark.parametrize(("name", "options"), WRONG)
def test_wrong_options_are_refused_in_the_same_words(name: str, options: dict[str, Any]) -> None:
    said = []
    for lib in (gradpack, torch):
        with pytest.raises(ValueError) as caught:
            getattr(lib.optim, name)([lib.ones(1, requires_grad=True)], **options)
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["SparseAdam", "Adagrad", "SGD"])
@pytest.mark.parametrize("maximize", [False, True])
def test_sparse_gradients(name: str, maximize: bool) -> None:
    results = []
    for lib in (gradpack, torch):
        p = lib.nn.Parameter(lib.tensor(numbers("float64", 0, [(6, 3)])[0]))
        optimizer = getattr(lib.optim, name)([p], lr=0.05, maximize=maximize)
        for rows in ([0, 2, 2], [1, 2], [5]):
            optimizer.zero_grad()
            found = lib.nn.functional.embedding(lib.tensor(rows), p, sparse=True)
            (found**3).sum().backward()
            optimizer.step()
        results.append((p, optimizer))
    assert_same(results[0][0], results[1][0], 1e-12)
    a, b = (x.state_dict()["state"].get(0, {}) for _, x in results)
    assert a.keys() == b.keys()
    for key, value in b.items():
        if isinstance(value, int):
            assert a[key] == value
        else:
            assert_same(a[key], value, 1e-12)


@pytest.mark.parametrize("name", [n for n in OPTIONS if n != "Adagrad"])
def test_no_sparse_gradients(name: str) -> None:
    for lib in (gradpack, torch):
        p = lib.ones(3, 2, requires_grad=True)
        lib.nn.functional.embedding(lib.tensor([1]), p, sparse=True).sum().backward()
        with pytest.raises(RuntimeError, match=f"{name} does not support sparse gradients"):
            getattr(lib.optim, name)([p]).step()


@pytest.mark.parametrize("name", [*OPTIONS, "SparseAdam", "LBFGS"])
def test_signatures(name: str) -> None:
    from inspect import signature

    ours, theirs = (signature(getattr(lib.optim, name).__init__).parameters for lib in (gradpack, torch))
    assert list(ours) == list(theirs)
    for key, parameter in theirs.items():
        assert (ours[key].default, ours[key].kind) == (parameter.default, parameter.kind)


def _rosenbrock(lib: Any, w: Any) -> Any:
    return (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2 + (w[2:] ** 2).sum() * 0.5


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lr": 0.1, "max_iter": 7},
        {"line_search_fn": "strong_wolfe"},
        {"line_search_fn": "strong_wolfe", "history_size": 2, "max_iter": 5, "lr": 0.5},
        {"line_search_fn": "strong_wolfe", "max_eval": 3},
        {"tolerance_grad": 1.0, "lr": 0.01},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("start", [(-1.2, 1.0, 0.5), (0.3, 2.0, -1.0), (2.0, -3.0, 4.0)], ids=str)
def test_lbfgs(options: dict[str, Any], start: tuple[float, ...]) -> None:
    results = []
    for lib in (gradpack, torch):
        w = lib.tensor(start, dtype=lib.float64, requires_grad=True)
        optimizer = lib.optim.LBFGS([w], **{"lr": 0.001 if not options else 1, **options})

        def closure(lib: Any = lib, w: Any = w, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = _rosenbrock(lib, w)
            loss.backward()
            return loss

        losses = [float(optimizer.step(closure)) for _ in range(4)]
        results.append((w, losses, optimizer.state[w]))
    (ours, a, mine), (theirs, b, yours) = results
    assert a == pytest.approx(b, rel=1e-6)
    assert_same(ours, theirs, 1e-6)
    assert (mine["n_iter"], mine["func_evals"]) == (yours["n_iter"], yours["func_evals"])
    assert mine.keys() == yours.keys() and len(mine.get("old_dirs", ())) == len(yours.get("old_dirs", ()))
