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


def each(name: str, check: Callable[[Case], Any], limit: int = 0) -> None:
    for case in cases(REGISTRY[name], check.__name__, limit):
        check(case)


def test_no_sample_is_of_an_unknown_operation():
    assert not set(all_samples()) - set(NAMES)


@every_operation
def test_samples_reach_everything(name):
    missing = unreached(REGISTRY[name], cases(REGISTRY[name], "unreached"))
    assert not missing, f"{name}: no sample has {'; none has '.join(missing)}"


@every_operation
def test_first_derivative(name):
    each(name, checks.first_order)


@every_operation
def test_second_derivative(name):
    each(name, checks.second_order)


@every_operation
def test_tangent_rule(name):
    each(name, checks.tangents)


@every_operation
def test_forward_over_reverse(name):
    each(name, checks.forward_over_reverse, 3)


@every_operation
def test_kind(name):
    each(name, checks.kind)


@every_operation
def test_exactly_what_is_named_is_saved(name):
    each(name, saved_checks.saved, 5)


@every_operation
def test_hooks_change_nothing(name):
    each(name, saved_checks.hooks, 5)


@every_operation
def test_writes_to_what_is_saved_are_noticed(name):
    each(name, saved_checks.versions, 5)


@every_operation
def test_second_backward(name):
    each(name, saved_checks.twice, 5)


@every_operation
def test_low_precision(name):
    each(name, dtype_checks.low_precision, 6)


@every_operation
def test_single_precision(name):
    each(name, dtype_checks.single_precision, 6)


@every_operation
def test_complex_numbers(name):
    each(name, dtype_checks.complex_numbers, 5)


@every_operation
def test_integers_and_bool(name):
    each(name, dtype_checks.integers, 5)


@every_operation
def test_layouts(name):
    each(name, layout_checks.layouts, 5)


@every_operation
def test_compiled_path_is_the_interpreted_one(name):
    each(name, layout_checks.paths)


@every_operation
def test_on_arrays_it_is_its_body(name):
    each(name, layout_checks.bodies, 5)


@every_operation
def test_who_shares_memory(name):
    each(name, memory_checks.aliasing)


@every_operation
def test_lifetime_of_what_is_saved(name):
    each(name, memory_checks.lifetime, 4)


@every_operation
def test_in_place(name):
    each(name, calling_checks.inplace, 6)


@every_operation
def test_out(name):
    each(name, calling_checks.out_argument, 4)


@every_operation
def test_bad_input(name):
    each(name, calling_checks.bad_input, 4)


@every_operation
def test_profiled(name):
    each(name, profiler_checks.profiled, 2)
