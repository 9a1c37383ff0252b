"""The checks of declarations notice what is wrong: each fails for an operation that lies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradpack.declare import decorators as kinds
from gradpack.declare.op import REGISTRY
from tests.ops import calling_checks, checks, dtype_checks, layout_checks, memory_checks, saved_checks
from tests.ops.cases import Case
from tests.samples.base import S, T

USUAL = S(T(2, 3))
PAIR = S(T(2, 3), T(2, 3))


@pytest.fixture
def declared():
    """Makes a case of an operation that exists during one test only."""
    before = set(REGISTRY)

    def make(function: Any, sample: S = USUAL, kind: Any = kinds.elementwise, **options: Any) -> Case:
        options.setdefault("input", lambda g: g)
        return Case(kind(**options)(function).op, 0, sample)

    yield make
    for name in set(REGISTRY) - before:
        del REGISTRY[name]


def lie(input):
    """Says the identity."""
    return input * 1.0


def lying_product(input, other):
    """Says multiplication."""
    return input * other


def fails(check: Any, case: Case, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check(case)


def test_what_is_true_passes(declared):
    case = declared(
        lying_product, PAIR, input=lambda g, other: g * other, other=lambda g, input: g * input, node="MulBackward0"
    )
    for check in (
        checks.first_order, checks.second_order, checks.tangents, checks.kind, saved_checks.saved, saved_checks.hooks,
        saved_checks.versions, saved_checks.twice, dtype_checks.low_precision, dtype_checks.single_precision,
        dtype_checks.complex_numbers, dtype_checks.integers, layout_checks.layouts, layout_checks.paths,
        layout_checks.bodies, memory_checks.aliasing, memory_checks.lifetime, calling_checks.out_argument,
        calling_checks.bad_input,
    ):  # fmt: skip
        check(case)


def test_a_wrong_formula(declared):
    case = declared(lie, input=lambda g: g * 1.001)
    fails(checks.first_order, case, "wrong gradient of input")
    fails(checks.tangents, case, "wrong tangent from input")


def test_one_wrong_formula_of_two(declared):
    case = declared(lying_product, PAIR, input=lambda g, other: g * other, other=lambda g, other: g * other)
    fails(checks.first_order, case, "wrong gradient of other")


def test_a_gradient_of_the_wrong_shape(declared):
    case = declared(lie, kind=kinds.linear, input=lambda g: g[:1])
    fails(checks.first_order, case, "the gradient of input has shape")


def test_a_formula_that_hides_a_dependence(declared):
    def lying_square(input):
        return input * input

    frozen: list[Any] = []

    def formula(g, input):
        array = getattr(input, "_data", input)
        frozen.append(array)
        return g * (2.0 * array)

    fails(checks.second_order, declared(lying_square, input=formula), "second derivative|create_graph")


def test_a_wrong_tangent_rule(declared):
    case = declared(lie, kind=kinds.general, jvp=lambda input_t: input_t * 2.0)
    checks.first_order(case)
    fails(checks.tangents, case, "wrong tangent from input")


def test_wrong_kinds(declared):
    def lying_reverse(input):
        return input[::-1] * 1.0

    def lying_shift(input):
        return input + 1.0

    def lying_square(input):
        return input * input

    fails(checks.kind, declared(lying_reverse), "reaches other results")
    fails(checks.kind, declared(lying_shift, kind=kinds.linear), "not linear in input")
    fails(
        checks.kind, declared(lying_square, kind=kinds.bilinear, input=lambda g, input: g * input * 2.0), "not linear"
    )


def test_something_else_saved(declared, monkeypatch):
    case = declared(lie, input=lambda g, input: g)
    case.call(case.tensors(case.arrays()))  # compiles it as it stands
    monkeypatch.setattr(case.op, "reads", {"input": ()})
    fails(saved_checks.saved, case, "1 tensors packed; the formulas name")


def test_a_result_that_is_an_input(declared):
    def lying_copy(input):
        return input

    fails(memory_checks.aliasing, declared(lying_copy), "shares memory with input, and no view is declared")


def test_a_body_that_writes_to_its_input(declared):
    def spoil(input):
        np.add(input, 1, out=input, where=input > 5)
        return input * 1.0

    case = declared(spoil)
    with pytest.raises((AssertionError, RuntimeError), match=r"written to|read-only"):
        memory_checks.aliasing(case)


def test_a_cycle(declared):
    class Knot:
        def __init__(self):
            self.own = self

    def formula(g):
        Knot()
        return g

    fails(memory_checks.lifetime, declared(lie, input=formula), "objects in reference cycles")


def test_something_kept_after_backward(declared):
    kept = []

    def formula(g, input):
        kept.append(input)
        return g

    fails(memory_checks.lifetime, declared(lie, input=formula), "saved tensors live after")


def test_a_wrong_dtype(declared):
    case = declared(lie)
    case.values(case.arrays())  # compiles it as it stands
    case.op.result = "bool"
    fails(dtype_checks.single_precision, case, "promises gradpack")


def test_a_refusal_in_numpys_words(declared):
    def fussy(input):
        if input.dtype.kind in "iub":
            raise TypeError("ufunc 'fussy' not supported for the input types, and the inputs could not be coerced")
        return input * 1.0

    fails(dtype_checks.integers, declared(fussy), "a message of NumPy or Python")


def test_an_unlisted_refusal_of_complex_numbers(declared):
    def real_only(input):
        if input.dtype.kind == "c":
            raise RuntimeError('"real_only" is not implemented for complex numbers')
        return input * 1.0

    fails(dtype_checks.complex_numbers, declared(real_only), "takes complex numbers, and here they give")


def test_a_body_that_looks_at_the_layout(declared):
    def first_in_memory(input):
        return input * float(input.flags.c_contiguous)

    fails(layout_checks.layouts, declared(first_in_memory), "inputs give another result")


def test_bad_input_that_is_not_refused(declared, monkeypatch):
    monkeypatch.setattr(calling_checks, "PUBLIC", {"forgiving"})

    def forgiving(input, dim=0):
        return input * 1.0

    case = declared(forgiving, S(T(2, 3), dim=1))
    fails(calling_checks.bad_input, case, "no IndexError for bad input")
