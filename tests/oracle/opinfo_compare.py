"""Values, dtypes, strides and derivatives of one sample, by both libraries."""

from __future__ import annotations

from typing import Any

import torch
from tests.oracle.agreement import differences, flat, same_places
from tests.oracle.opinfo_calls import Call, cotangents, differentiable, exact, hides_seed, near, widened
from tests.oracle.tally import Tally, describe, told_of
from tests.oracle.translate import Translation, ours_from

import gradpack

HALF = ("bfloat16", "float16", "complex32")
TIES = ("sort", "argsort", "topk", "kthvalue", "median", "nanmedian", "mode", "msort")
# Vectors whose sign or phase each LAPACK chooses for itself: compared in the form that torch's own tests compare.
UP_TO_PHASE = ("linalg.eig", "linalg.eigh", "linalg.svd", "svd", "svd_lowrank", "pca_lowrank")


def compare(info: Any, function: Any, sample: Any, dtype: str, order: int, tally: Tally) -> None:
    """Values, dtypes, strides, and `order` derivatives."""
    tolerance = near(dtype)
    words = describe(sample)
    try:
        call = Call(info.op, function, sample)
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError, NotImplementedError):
        return  # a sample that torch itself cannot do tells nothing
    if call.error is not None:
        for category in "forward", "backward", "double":
            if category == "forward" or order >= 1 + (category == "double"):
                tally.add(category, told_of(call.error), dtype, words)
        return
    sure = exact(info, call)
    found = differences(call.expected, call.given, "value", tolerance, sure)
    finer: Any = None
    gradients: list[Any] = []
    if dtype in HALF and (found or order):
        finer, gradients = widened(info, sample, order)
    if found and finer is not None:
        found = differences(call.expected, call.given, "value", tolerance, sure, finer)
    process = sample.output_process_fn_grad or (lambda x: x)
    if (
        found
        and info.name in UP_TO_PHASE
        and not differences(call.expected, call.given, "value", tolerance, False)
        and not differences(process(call.expected), ours_from(process)(call.given), "value", tolerance)
    ):
        found = None
    if found and info.name in TIES and same_places(call.expected, call.given, sample.input, sample.args, sample.kwargs):
        tally.add("forward", None)
        return
    tally.add("dtype", found if found and "dtype" in found else None, dtype, words)
    if not tally.add("forward", found, dtype, words):
        return
    tally.add("strides", other_strides(call.expected, call.given), dtype, words)
    if not order or not sure:
        return
    if info.name in TIES and dtype in HALF:
        return  # many are equal, and which of them gets the gradient is open
    theirs = differentiable(process(call.expected), torch.Tensor)
    ours = differentiable(ours_from(process)(call.given), gradpack.Tensor)
    derivatives(theirs, ours, call.translate, dtype, words, order, tally, gradients)


def other_strides(theirs: Any, ours: Any) -> str | None:
    """In words, where results lie in memory otherwise."""
    for t, o in zip(flat(theirs, torch.Tensor), flat(ours, gradpack.Tensor), strict=False):
        if isinstance(t, torch.Tensor) and isinstance(o, gradpack.Tensor) and t.layout is torch.strided and t.numel():
            pairs = [(a, b) for a, b, n in zip(t.stride(), o.stride(), t.shape, strict=True) if n > 1]
            if any(a != b for a, b in pairs):
                return f"strides {tuple(o.stride())} instead of {tuple(t.stride())}, shape {tuple(t.shape)}"
    return None


def derivatives(
    theirs: list[Any],
    ours: list[Any],
    translate: Translation,
    dtype: str,
    words: str,
    order: int,
    tally: Tally,
    finer: list[Any],
    category: str = "",
) -> None:
    if len(theirs) != len(ours):
        tally.add("backward", f"{len(ours)} results require grad instead of {len(theirs)}", dtype, words)
        return
    pairs = [(t, o) for t, o in translate.pairs if t.requires_grad]
    if not theirs or not pairs:
        return
    tolerance = near(dtype)
    seeds = cotangents(theirs)
    to_ours = Translation()
    own = [to_ours(s.requires_grad_(order > 1)) for s in seeds]
    for level in range(1, order + 1):
        again = order > level
        place = category or ("backward" if level == 1 else "double")
        inputs = [t for t, _ in pairs], [o for _, o in pairs]
        try:
            left = torch.autograd.grad(theirs, inputs[0], seeds, create_graph=again, allow_unused=True)
        except RuntimeError:
            return
        try:
            if ours:
                right = gradpack.autograd.grad(ours, inputs[1], own, create_graph=again, allow_unused=True)
            else:
                right = (None,) * len(pairs)
        except Exception as error:
            tally.add(place, told_of(error), dtype, words)
            return
        zeros = [
            (torch.zeros_like(t) if a is None else a, gradpack.zeros_like(o) if b is None else b)
            for a, b, (t, o) in zip(left, right, pairs, strict=True)
        ]
        for i, (a, b) in enumerate(zeros):
            wide = finer[i] if level == 1 and len(finer) == len(zeros) else None
            found = differences(a.detach(), b.detach(), f"gradient {level} of input {i}", tolerance * 10, finer=wide)
            if found:
                tally.add(place, found, dtype, words)
                return
        tally.add(place, None)
        # Then the gradients are differentiated, by the inputs and by what was propagated back. Where only one
        # library says that a gradient depends on something, the other's derivative is zero.
        pairs += [(t, o) for t, o in to_ours.pairs if t.requires_grad]
        further = cotangents([a for a, _ in zeros])
        kept = [(a, s) for (a, _), s in zip(zeros, further, strict=True) if a.requires_grad]
        theirs, seeds = [a for a, _ in kept], [s for _, s in kept]
        mine = [(b, Translation()(s)) for (_, b), s in zip(zeros, further, strict=True) if b.requires_grad]
        ours, own = [b for b, _ in mine], [s for _, s in mine]
        if not theirs:
            return


def dual(value: Any, pairs: list[tuple[Any, Any]], module: Any, place: int) -> Any:
    """The same arguments with tangents: `pairs` says which for which tensor."""
    if isinstance(value, module.Tensor):
        for pair, tangents in pairs:
            if pair[place] is value:
                return module.autograd.forward_ad.make_dual(value.detach(), tangents[place])
        return value
    if type(value) in (list, tuple):
        return type(value)(dual(v, pairs, module, place) for v in value)
    return {k: dual(v, pairs, module, place) for k, v in value.items()} if type(value) is dict else value


def tangents(info: Any, function: Any, sample: Any, dtype: str, tally: Tally) -> None:
    """Forward mode: results for tangents of every input that can have one."""
    translate = Translation()
    given = (sample.input, tuple(sample.args), dict(sample.kwargs))
    own = tuple(map(translate, given))
    found = [p for p in translate.pairs if p[0].requires_grad]
    if not found or hides_seed(info.op) or "fractional" in info.name:
        return
    made = cotangents([t for t, _ in found], 5)
    pairs = [(p, (t, Translation()(t))) for p, t in zip(found, made, strict=True)]
    for some in (pairs, *([p] for p in pairs if len(pairs) > 1)):
        tangents_of(info, function, sample, given, own, some, dtype, tally)


def plain(op: Any, *args: Any, **kwargs: Any) -> Any:
    return op(*args, **kwargs)


def tangents_of(
    info: Any, function: Any, sample: Any, given: Any, own: Any, pairs: list[Any], dtype: str, tally: Tally
) -> None:
    """Forward mode with tangents of some of the inputs."""
    words = describe(sample)
    process = sample.output_process_fn_grad if info.name in UP_TO_PHASE else None
    process = process or (lambda x: x)
    whole = info.gradcheck_wrapper  # makes a symmetric or triangular matrix of one that only counts as such
    if "masked" in whole.__name__:
        whole = plain
    with torch.autograd.forward_ad.dual_level(), gradpack.autograd.forward_ad.dual_level():
        torch.manual_seed(1)
        state = torch.random.get_rng_state()
        try:
            a = [dual(v, pairs, torch, 0) for v in given]
            expected = flat(process(whole(info.op, a[0], *a[1], **a[2])), torch.Tensor)
        except (RuntimeError, TypeError, ValueError, IndexError):
            return
        if not bool((state == torch.random.get_rng_state()).all()):
            return
        try:
            b = [dual(v, pairs, gradpack, 1) for v in own]
            results = flat(ours_from(process)(ours_from(whole)(function, b[0], *b[1], **b[2])), gradpack.Tensor)
        except Exception as error:
            tally.add("tangent", told_of(error), dtype, words)
            return
        told = None
        for i, (t, o) in enumerate(zip(expected, results, strict=False)):
            if isinstance(t, torch.Tensor) and isinstance(o, gradpack.Tensor):
                theirs = torch.autograd.forward_ad.unpack_dual(t).tangent
                ours = gradpack.autograd.forward_ad.unpack_dual(o).tangent
                theirs = torch.zeros_like(t) if theirs is None else theirs
                ours = gradpack.zeros_like(o) if ours is None else ours
                told = told or differences(theirs.detach(), ours.detach(), f"tangent {i}", 10 * near(dtype))
        tally.add("tangent", told, dtype, words)
