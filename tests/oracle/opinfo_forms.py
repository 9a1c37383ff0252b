"""The other forms of an operator, on one sample: methods, operators, in place, and `out=`."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from tests.oracle.agreement import differences, flat
from tests.oracle.opinfo_calls import Call, differentiable, exact, near, refusal, widened
from tests.oracle.opinfo_compare import HALF, TIES, UP_TO_PHASE, derivatives
from tests.oracle.tally import Tally, describe, told_of
from tests.oracle.translate import Translation, our_variant

import gradpack


def other_forms(info: Any, sample: Any, dtype: str, order: int, tally: Tally) -> None:
    """The method, the operators, the in-place forms."""
    tolerance = near(dtype)
    words = describe(sample)
    if not isinstance(sample.input, torch.Tensor) or info.name in (*TIES, *UP_TO_PHASE):
        return
    for which in "method_variant", "operator_variant", "inplace_variant", "inplace_operator_variant":
        variant = getattr(info, which)
        clones = which.startswith("inplace")
        if variant is None or (clones and sample.broadcasts_input):
            continue
        category = "inplace" if clones else "method"
        try:
            ours = our_variant(variant)
        except AttributeError as error:
            tally.add(category, told_of(error), dtype)
            continue
        try:
            call = Call(variant, ours, sample, clones=clones)
        except Exception as error:  # what torch refuses to write in place is to be refused
            if clones and type(error) in (RuntimeError, TypeError):
                tally.add("inplace", refusal(error, lambda f=ours: in_place(f, sample)), dtype, words)
            continue
        if call.error is not None:
            tally.add(category, f"{which} {told_of(call.error)}", dtype, words)
            continue
        found = differences(call.expected, call.given, which, tolerance, exact(info, call))
        if found and dtype in HALF:
            found = differences(
                call.expected, call.given, which, tolerance, exact(info, call), widened(info, sample, 0)[0]
            )
        if tally.add(category, found, dtype, words) and order and clones and not call.random:
            outs = differentiable(call.expected, torch.Tensor), differentiable(call.given, gradpack.Tensor)
            derivatives(*outs, call.translate, dtype, words, 1, tally, [], "inplace")


def in_place(function: Any, sample: Any) -> Any:
    translate = Translation()
    args, kwargs = translate(tuple(sample.args)), translate(dict(sample.kwargs))
    return function(translate(sample.input).clone(), *args, **kwargs)


def outs(info: Any, function: Any, sample: Any, dtype: str, tally: Tally) -> None:
    """`out=`: right ones, an empty one, one of another layout, and ones of another dtype or shape."""
    if "out" in sample.kwargs or sample.kwargs.get("as_tuple") or info.name in (*TIES, *UP_TO_PHASE):
        return
    try:
        expected = info.op(sample.input, *sample.args, **sample.kwargs)
    except Exception:
        return
    results = flat(expected, torch.Tensor)
    if not all(isinstance(r, torch.Tensor) for r in results):
        return
    made: dict[str, list[Any]] = {
        "right": [torch.zeros_like(r, memory_format=torch.contiguous_format) for r in results],
        "empty": [torch.zeros(0, dtype=r.dtype) for r in results],
        "strided": [torch.zeros(*r.shape, 2, dtype=r.dtype)[..., 0] for r in results],
        "larger": [torch.ones(*r.shape, 1, dtype=r.dtype) for r in results],
        "wider": [torch.zeros(r.shape, dtype=torch.complex128) for r in results],
        "int": [torch.zeros(r.shape, dtype=torch.int64) for r in results],
        "float64": [torch.zeros(r.shape, dtype=torch.float64) for r in results],
    }
    for word, given in made.items():
        whole: Any = tuple(given) if isinstance(expected, tuple | list) else given[0]
        translate = Translation()
        own: Any = translate(tuple(map(same_layout, given)) if isinstance(whole, tuple) else same_layout(whole))
        arguments = translate(sample.input), translate(tuple(sample.args)), translate(dict(sample.kwargs))
        random = "empty" in info.name or "rand" in info.name or info.name in ("normal", "bernoulli", "multinomial")
        with warnings.catch_warnings(record=True) as theirs:
            warnings.simplefilter("always")
            try:
                torch.manual_seed(1)
                info.op(sample.input, *sample.args, **sample.kwargs, out=whole)
            except Exception as error:
                call = lambda a=arguments, o=own: function(a[0], *a[1], **a[2], out=o)  # noqa: E731
                tally.add("out", prefixed(word, refusal(error, call)), dtype, describe(sample))
                continue
        with warnings.catch_warnings(record=True) as ours:
            warnings.simplefilter("always")
            try:
                function(arguments[0], *arguments[1], **arguments[2], out=own)
            except Exception as error:
                tally.add("out", f"{word} {told_of(error)}", dtype, describe(sample))
                continue
        found = differences(whole, own, word, near(dtype), not random)
        resized = [any("resized" in str(w.message) for w in group) for group in (theirs, ours)]
        if found is None and resized[0] != resized[1]:
            found = f"{word}: warning of a resize: {resized[1]} instead of {resized[0]}"
        tally.add("out", found, dtype, describe(sample))


def same_layout(t: Any) -> Any:
    """A copy with the same strides: translating a tensor pins its memory, so that it could not be resized."""
    return torch.full_like(t, 1) if t.is_contiguous() else t


def prefixed(word: str, found: str | None) -> str | None:
    return found and f"{word} {found}"
