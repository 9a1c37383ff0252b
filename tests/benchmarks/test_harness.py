"""The harness counts, pairs and compares rightly. Nothing here depends on how fast a machine is."""

import importlib
import importlib.util
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
HARNESS = ROOT / "benchmarks" / "harness.py"


@pytest.fixture(scope="module")
def harness() -> ModuleType:
    """Loaded from its file: `benchmarks` is not installed, and this folder has the same name."""
    spec = importlib.util.spec_from_file_location("harness_under_test", HARNESS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def clock(harness: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that only moves when a step says so."""
    now = [0.0]
    monkeypatch.setattr(harness, "perf_counter", lambda: now[0])
    return now


def test_libraries_take_turns_and_ratios_stay_inside_a_round(harness: ModuleType, clock: list[float]) -> None:
    calls: list[str] = []
    pace = [1.0]

    def step(name: str, seconds: float) -> None:
        calls.append(name)
        clock[0] += seconds * pace[0]
        pace[0] *= 1.0001  # the machine slows down all the time

    timings = harness.compare({"a": lambda: step("a", 0.01), "b": lambda: step("b", 0.03)}, rounds=15, block=0.02)
    assert timings["a"].repetitions * 0.01 >= 0.02
    timed = calls[-15 * (timings["a"].repetitions + timings["b"].repetitions) :]
    one_round = ["a"] * timings["a"].repetitions + ["b"] * timings["b"].repetitions
    assert timed == one_round * 15
    ratio = harness.spread(timings["b"], timings["a"])
    assert ratio.median == pytest.approx(3.0, rel=1e-3)
    assert ratio.low <= ratio.median <= ratio.high
    assert timings["a"].seconds[-1] > timings["a"].seconds[0]


def test_a_block_is_filled_and_every_step_is_warm(harness: ModuleType, clock: list[float]) -> None:
    calls = [0]

    def step() -> None:
        calls[0] += 1
        clock[0] += 0.001

    harness.warm_up(step, seconds=0.0)
    assert calls[0] == 16
    harness.warm_up(step, seconds=0.1)
    assert calls[0] >= 16 + 100
    assert 20 <= harness.repetitions_for(step, 0.02) <= 30


def test_spread_of_known_ratios(harness: ModuleType) -> None:
    one = harness.Timing((1.0, 1.0, 1.0, 1.0, 1.0), 1)
    other = harness.Timing((0.5, 0.6, 0.7, 0.8, 90.0), 1)
    assert harness.spread(other, one) == pytest.approx((0.7, 0.6, 0.8))
    assert (other.minimum, other.median) == (0.5, 0.7)
    with pytest.raises(ValueError, match="shorter"):
        harness.spread(other, harness.Timing((1.0,), 1))


def test_too_few_rounds(harness: ModuleType) -> None:
    with pytest.raises(ValueError, match="rounds is 1"):
        harness.compare({"a": lambda: None}, rounds=1)


def test_threads_are_pinned_only_while_that_still_works(harness: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in harness.THREAD_VARIABLES:
        monkeypatch.setenv(variable, "7")
    monkeypatch.delitem(sys.modules, "numpy", raising=False)
    harness.pin_threads()
    assert {harness.os.environ[variable] for variable in harness.THREAD_VARIABLES} == {"1"}
    monkeypatch.setitem(sys.modules, "numpy", ModuleType("numpy"))
    with pytest.raises(RuntimeError, match="already imported"):
        harness.pin_threads()


def test_load_gives_each_library_its_own_code(
    harness: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = tmp_path / "example.py"
    example.write_text(
        "from __future__ import annotations\n"
        "import fractions_ as numbers\n"
        "from fractions_ import Fraction as F\n"
        "def half(): return F(1, 2), numbers.__name__\n"
    )
    loaded = []
    for name in ("example_one", "example_two"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        loaded.append(harness.load(example, name, {"fractions_": "fractions"}))
    one, two = loaded
    assert one.half() == two.half() == (Fraction(1, 2), "fractions")
    assert one.half.__code__ is not two.half.__code__


def test_load_leaves_nothing_behind_when_the_file_fails(harness: ModuleType, tmp_path: Path) -> None:
    example = tmp_path / "example.py"
    example.write_text("import json\nraise KeyError('no')\n")
    with pytest.raises(KeyError):
        harness.load(example, "example_that_fails")
    assert "example_that_fails" not in sys.modules


def test_machine_names_what_a_number_depends_on(harness: ModuleType) -> None:
    facts = harness.machine(("numpy", "no-such-package"))
    assert facts["cpu"]
    assert set(facts["packages"]) == {"numpy"}
    assert facts["python"].startswith(harness.platform.python_implementation())


@pytest.fixture
def overhead(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.overhead")


def test_a_wrong_value_is_noticed_before_it_is_timed(overhead: ModuleType) -> None:
    right = [np.array([1.0, -100.0]), np.array([[1e-3]])]
    assert overhead.difference(right, [value.copy() for value in right]) == 0
    assert overhead.difference(right, [right[0] + 0.01, right[1]]) == pytest.approx(1e-4)
    assert overhead.difference(right, [right[0], right[1] * 2]) == pytest.approx(1.0)
    assert not overhead.difference(right, [right[0] * np.nan, right[1]]) <= overhead.TOLERANCE
    with pytest.raises(ArithmeticError, match="shapes"):
        overhead.difference(right, right[:1])
    with pytest.raises(ArithmeticError, match="None"):
        overhead.array(None)


@pytest.mark.parametrize(("ratio", "verdict"), [(0.5, "0.55 yes"), (0.6, "0.55 NO")])
def test_a_row_says_whether_the_bar_holds(overhead: ModuleType, ratio: float, verdict: str) -> None:
    record = {
        "name": "chain",
        "per": 500,
        "bar": 0.55,
        "microseconds": {name: {"median": 2.345, "min": 2.0} for name in ("torch", "gradpack", "HIPS")},
        "ratios": {
            "gradpack": {"median": ratio, "low": 0.4, "high": 0.7},
            "HIPS": {"median": 3.21, "low": 3.0, "high": 4.0},
        },
    }
    cells = dict(zip(overhead.header("gradpack", torch=True), overhead.row(record, "gradpack"), strict=True))
    assert cells["bar"] == verdict
    assert cells["ratio"] == f"{ratio:.2f}"
    assert cells["torch µs"] == "2.35"
    assert cells["peers, ratio"] == "HIPS 3.2"
