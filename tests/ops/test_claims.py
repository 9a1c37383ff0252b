"""Every declared operation does what its declaration claims, for every sample.

`GRADPACK_SWEEP=1` runs every check on every sample; otherwise the dearer checks take some of them,
always the same ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gradpack.declare.op import REGISTRY
from tests.ops import calling_checks, checks, dtype_checks, layout_checks, memory_checks, profiler_checks, saved_checks
from tests.ops.cases import Case, cases, operations, unreached
from tests.samples.base import all_samples

NAMES = operations()

every_operation = pytest.mark.parametrize("name", NAMES)
Checks = dict[Callable[[Case], Any], int]  # with how many samples are taken, 0 for all


def hold(name: str, checks: Checks) -> None:
    """Run checks on samples of an operation; the first failure of each is raised, together with those of the others."""
    failed: list[Exception] = []
    for check, limit in checks.items():
        try:
            for case in cases(REGISTRY[name], check.__name__, limit):
                check(case)
        except Exception as error:
            failed.append(error)
    if failed:
        raise failed[0] if len(failed) == 1 else ExceptionGroup(f"{name} fails {len(failed)} checks", failed)


def test_no_sample_is_of_an_unknown_operation():
    assert not set(all_samples()) - set(NAMES)


@every_operation
def test_samples_reach_everything(name):
    missing = unreached(REGISTRY[name], cases(REGISTRY[name], "unreached"))
    assert not missing, f"{name}: no sample has {'; none has '.join(missing)}"


DERIVATIVES: Checks = {
    checks.first_order: 0,
    checks.second_order: 0,
    checks.tangents: 0,
    checks.forward_over_reverse: 3,
    checks.kind: 0,
}
SAVED: Checks = {
    saved_checks.saved: 5,  # exactly what is named
    saved_checks.hooks: 5,
    saved_checks.versions: 5,
    saved_checks.twice: 5,
    memory_checks.aliasing: 0,
    memory_checks.lifetime: 4,
}
DTYPES: Checks = {
    dtype_checks.low_precision: 6,
    dtype_checks.single_precision: 6,
    dtype_checks.complex_numbers: 5,
    dtype_checks.integers: 5,
}
CALLS: Checks = {
    layout_checks.layouts: 5,
    layout_checks.paths: 0,  # the compiled path is the interpreted one
    layout_checks.bodies: 5,
    calling_checks.inplace: 6,
    calling_checks.out_argument: 4,
    calling_checks.bad_input: 4,
    profiler_checks.profiled: 2,
}


@every_operation
def test_derivatives(name):
    hold(name, DERIVATIVES)


@every_operation
def test_what_is_saved(name):
    hold(name, SAVED)


@every_operation
def test_dtypes(name):
    hold(name, DTYPES)


@every_operation
def test_calls(name):
    hold(name, CALLS)


def test_every_failure_is_raised():
    seen = []

    def sees(case):
        seen.append(case)

    def fails(case):
        assert not case, "no"

    with pytest.raises(AssertionError, match="no"):
        hold("add", {fails: 1, sees: 2})
    assert len(seen) == 2
    with pytest.raises(ExceptionGroup, match="add fails 2 checks"):
        hold("add", {fails: 1, sees: 1, lambda case: fails(case): 1})
