"""Every operation on torch's own sample inputs, by both libraries.

torch tests its operators with a table of them (`op_db`): samples for each dtype, bad inputs, and what
each operator supports. The same samples are given to gradpack here. As a program it prints what
differs::

    python -m tests.oracle.opinfo svd linalg.qr                # these operators, every sample
    python -m tests.oracle.opinfo --all --limit 10 --summary   # all, ten samples of each and dtype

Each comparison belongs to a category: `forward` (values), `dtype` (of results), `backward`, `double`
(backward of backward), `tangent` (forward mode), `inplace`, `method` (and the operators, and other names),
`out`, `refused` (bad input, and dtypes that torch does not take).
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from tests.oracle.agreement import TOLERANCE, differences, flat, name_of, same_places
from tests.oracle.translate import Translation, exists, our_function, our_variant, ours_from, resolve

import gradpack
from gradpack.extend.names import paths

CATEGORIES = "forward dtype backward double tangent inplace method out refused".split()
DTYPES = "float64 complex128 float32 int64 bool bfloat16 float16 uint8 complex64 int32 int16 int8".split()
OUT_DTYPES = ("float64", "float32", "complex64", "int64", "uint8", "bool")
DIFFERENTIATED = ("float64", "complex128", "bfloat16")
TIES = ("sort", "argsort", "topk", "kthvalue", "median", "nanmedian", "mode", "msort")
# Vectors whose sign or phase each LAPACK chooses for itself: compared in the form that torch's own tests compare.
UP_TO_PHASE = ("linalg.eig", "linalg.eigh", "linalg.svd", "svd", "svd_lowrank", "pca_lowrank")
KNOWN = Path(__file__).with_name("opinfo_known.tsv")


def table() -> dict[str, Any]:
    """Every OpInfo by its full name, `name` or `name.variant`."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {o.name + (f".{o.variant_test_name}" if o.variant_test_name else ""): o for o in op_db}


_DTYPE = re.compile(
    r"c10::complex<double>|c10::[A-Za-z]+|\b(unsigned char|signed char|short int|long int|Int|Short|Char|Byte|Long|"
    r"Float|Double|Bool|Half|BFloat16|ComplexDouble|ComplexFloat|int|bool|double|float|[a-z]+[0-9]+)\b"
)


class Tally:
    """What was compared for one operator, by category, and what differed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.good: Counter[str] = Counter()
        self.bad: Counter[str] = Counter()
        self.told: dict[tuple[str, str], tuple[tuple[str, str], list[str]]] = {}

    def add(self, category: str, found: str | None, dtype: str = "", sample: str = "") -> bool:
        """Count one comparison; True if it agreed."""
        if found is None:
            self.good[category] += 1
            return True
        self.bad[category] += 1
        head = _DTYPE.sub("D", found if category == "refused" else found.split(":")[0])
        first = f"{self.name} {category}", f"{sample}: {found}"
        _, seen = self.told.setdefault((category, head), (first, []))
        if dtype not in seen:
            seen.append(dtype)
        return False

    def lines(self) -> list[str]:
        """The first of each kind of difference, with the dtypes that it was seen in."""
        return [f"{start} {' '.join(seen)} {rest}" for (start, rest), seen in self.told.values()]


def hides_seed(function: Any) -> bool:
    """Whether a random operator is wrapped so that the generator is as it was before."""
    return "wrapper_set_seed" in getattr(getattr(function, "__code__", None), "co_names", ())


def near(dtype: str) -> float:
    """The tolerance for a sample of a dtype: integers may be computed with in float32."""
    return TOLERANCE.get(dtype, TOLERANCE["float32"])


class Call:
    """One way to call an operator, by both libraries, on one sample; it remembers what torch answered."""

    def __init__(self, theirs: Any, ours: Any, sample: Any, *, clones: bool = False) -> None:
        self.translate = Translation()
        self.sample = sample
        given = (sample.input, tuple(sample.args), dict(sample.kwargs))
        translated = tuple(map(self.translate, given))
        first, own = given[0], translated[0]
        if clones:
            first, own = first.clone(), own.clone()
        torch.manual_seed(1)
        self.state = torch.random.get_rng_state()
        self.expected = theirs(first, *given[1], **given[2])
        self.random = hides_seed(theirs) or not bool((self.state == torch.random.get_rng_state()).all())
        self.error: Exception | None = None
        self.given: Any = None
        try:
            self.given = ours(own, *translated[1], **translated[2])
        except Exception as error:
            self.error = error


def told_of(error: Exception) -> str:
    words = str(error).splitlines()
    return f"raises {type(error).__name__}: {words[0] if words else ''}"


def cotangents(outputs: list[Any], seed: int = 3) -> list[Any]:
    generator = torch.Generator().manual_seed(seed)
    made = []
    for o in outputs:
        real = torch.rand(o.shape, generator=generator, dtype=torch.float64) + 0.5
        if o.is_complex():
            real = torch.complex(real, torch.rand(o.shape, generator=generator, dtype=torch.float64))
        made.append(real.to(o.dtype))
    return made


def differentiable(value: Any, kind: Any) -> list[Any]:
    return [v for v in flat(value, kind) if isinstance(v, kind) and v.requires_grad]


def in_float32(value: Any, memo: dict[int, Any]) -> Any:
    """The same arguments with tensors of half precision widened."""
    if isinstance(value, torch.Tensor) and value.dtype in (torch.bfloat16, torch.float16):
        if id(value) not in memo:
            memo[id(value)] = value.detach().float().requires_grad_(value.requires_grad)
        return memo[id(value)]
    if type(value) in (list, tuple):
        return type(value)(in_float32(v, memo) for v in value)
    if type(value) is dict:
        return {k: in_float32(v, memo) for k, v in value.items()}
    return torch.float32 if value in (torch.bfloat16, torch.float16) else value


def widened(info: Any, sample: Any, order: int) -> tuple[Any, list[Any]]:
    """What torch gives in float32 for a sample of half precision: results and gradients."""
    memo: dict[int, Any] = {}
    arguments = (in_float32(sample.input, memo), in_float32(tuple(sample.args), memo), in_float32(sample.kwargs, memo))
    try:
        torch.manual_seed(1)
        result = info.op(arguments[0], *arguments[1], **arguments[2])
        if not order:
            return result, []
        process = sample.output_process_fn_grad or (lambda x: x)
        outs, inputs = differentiable(process(result), torch.Tensor), [t for t in memo.values() if t.requires_grad]
        return result, list(torch.autograd.grad(outs, inputs, cotangents(outs), allow_unused=True))
    except Exception:
        return None, []


def exact(info: Any, call: Call) -> bool:
    """Whether values can be compared: not where they are random, or whatever was in memory."""
    return not call.random and "empty" not in info.name and info.name != "resize_"


# ---- one sample


def compare(info: Any, function: Any, sample: Any, dtype: str, order: int, tally: Tally) -> None:
    """Values, dtypes, and `order` derivatives."""
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
    if dtype in ("bfloat16", "float16") and (found or order):
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
    if not tally.add("forward", found, dtype, words) or not order or not sure:
        return
    if info.name in TIES and dtype == "bfloat16":
        return  # many are equal, and which of them gets the gradient is open
    theirs = differentiable(process(call.expected), torch.Tensor)
    ours = differentiable(ours_from(process)(call.given), gradpack.Tensor)
    derivatives(theirs, ours, call.translate, dtype, words, order, tally, gradients)


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
    for level in range(1, order + 1):
        seeds = cotangents(theirs)
        again = order > level
        place = category or ("backward" if level == 1 else "double")
        inputs = [t for t, _ in pairs], [o for _, o in pairs]
        try:
            left = torch.autograd.grad(theirs, inputs[0], seeds, create_graph=again, allow_unused=True)
        except RuntimeError:
            return
        try:
            mine = [Translation()(s) for s in seeds]
            right = gradpack.autograd.grad(ours, inputs[1], mine, create_graph=again, allow_unused=True)
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
        theirs, ours = [a for a, _ in zeros if a.requires_grad], [b for _, b in zeros if b.requires_grad]
        if not theirs or len(theirs) != len(ours):
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
    if not found or info.name in UP_TO_PHASE or hides_seed(info.op) or "fractional" in info.name:
        return
    made = cotangents([t for t, _ in found], 5)
    pairs = [(p, (t, Translation()(t))) for p, t in zip(found, made, strict=True)]
    words = describe(sample)
    with torch.autograd.forward_ad.dual_level(), gradpack.autograd.forward_ad.dual_level():
        torch.manual_seed(1)
        state = torch.random.get_rng_state()
        try:
            a = [dual(v, pairs, torch, 0) for v in given]
            expected = flat(info.op(a[0], *a[1], **a[2]), torch.Tensor)
        except (RuntimeError, TypeError, ValueError, IndexError):
            return
        if not bool((state == torch.random.get_rng_state()).all()):
            return
        try:
            b = [dual(v, pairs, gradpack, 1) for v in own]
            results = flat(function(b[0], *b[1], **b[2]), gradpack.Tensor)
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
                told = told or differences(theirs, ours, f"tangent {i}", 10 * near(dtype))
        tally.add("tangent", told, dtype, words)


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
        if found and dtype in ("bfloat16", "float16"):
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


def refusal(expected: Exception, call: Callable[[], Any]) -> str | None:
    """What is wrong where torch raised `expected`."""
    first = str(expected).splitlines()[0][:110] if str(expected) else ""
    try:
        call()
    except Exception as error:
        if isinstance(error, type(expected)) or (
            type(expected) is NotImplementedError and isinstance(error, RuntimeError)
        ):
            return None
        return f"{type(error).__name__} ({str(error)[:90]}) instead of {type(expected).__name__} ({first})"
    return f"accepted instead of {type(expected).__name__} ({first})"


# ---- samples


def samples(info: Any, dtype: str, order: int, limit: int | None, reference: bool = False) -> Iterator[Any]:
    torch.manual_seed(0)
    if info.name == "as_strided" and info.variant_test_name == "partial_views":
        return  # about memory before the tensor: a translated one has none
    make = info.reference_inputs if reference else info.sample_inputs
    made = make("cpu", getattr(torch, dtype), requires_grad=order > 0)
    for i, sample in enumerate(made):
        if limit is not None and i >= limit:
            return
        given = flat((sample.input, *sample.args, *sample.kwargs.values()), torch.Tensor)
        if any(isinstance(t, torch.Tensor) and t.layout not in (torch.strided, torch.sparse_coo) for t in given):
            continue  # compressed layouts: gradpack has coordinates only
        yield sample


def bad_inputs(info: Any, function: Any, tally: Tally) -> None:
    """What torch refuses: its list of bad inputs, and dtypes that it does not take."""
    bad = [b.sample_input for b in info.error_inputs("cpu")] if info.error_inputs_func is not None else []
    taken = {name_of(d) for d in info.dtypes}
    for dtype in DTYPES:
        if dtype not in taken and not info.name.startswith(("_segment", "torch.ops")):
            try:
                bad.extend(samples(info, dtype, 0, 1))
            except Exception:  # no such samples
                continue
    for sample in bad:
        translate = Translation()
        try:
            info.op(sample.input, *sample.args, **sample.kwargs)
        except Exception as error:
            try:
                arguments = (translate(sample.input), translate(tuple(sample.args)), translate(dict(sample.kwargs)))
            except (AttributeError, TypeError, ValueError):  # a dtype, layout or number of dimensions that NumPy lacks
                continue
            call = lambda a=arguments: function(a[0], *a[1], **a[2])  # noqa: E731
            tally.add("refused", refusal(error, call), sample=describe(sample))


def tally_of(
    name: str,
    info: Any,
    limit: int | None = None,
    *,
    dtypes: tuple[str, ...] = tuple(DTYPES),
    categories: tuple[str, ...] = tuple(CATEGORIES),
    reference: bool = False,
) -> Tally | None:
    """Everything about one operator; None where it does not exist."""
    function = our_function(info)
    if function is None:
        return None
    tally = Tally(name)
    theirs = {name_of(d) for d in info.dtypes}
    grads = {name_of(d) for d in info.backward_dtypes} if info.supports_autograd else set()
    mixed = type(info.op).__module__ == "torch._ops" or (
        inspect.isfunction(info.op) and "_internal" in info.op.__module__
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in dtypes:
            if dtype not in theirs:
                continue
            order = 0
            if dtype in DIFFERENTIATED and dtype in grads:
                order = 2 if info.supports_gradgrad and dtype != "bfloat16" else 1
            for i, sample in enumerate(samples(info, dtype, order, limit, reference)):
                try:
                    compare(info, function, sample, dtype, order, tally)
                    if "tangent" in categories and order and info.supports_forward_ad and dtype != "bfloat16":
                        tangents(info, function, sample, dtype, tally)
                    if "method" in categories:
                        other_forms(info, sample, dtype, order and 1, tally)
                    if "out" in categories and info.supports_out and i < 2 and not mixed and dtype in OUT_DTYPES:
                        plain = sample.transform(lambda x: x.detach() if isinstance(x, torch.Tensor) else x)
                        outs(info, function, plain, dtype, tally)
                except Exception as error:
                    tally.add("forward", f"comparison fails: {type(error).__name__}: {error}", dtype, describe(sample))
                    if "-v" in sys.argv:
                        traceback.print_exc()
        if "refused" in categories:
            bad_inputs(info, function, tally)
        for alias in info.aliases:
            path = (
                alias.name.removeprefix("torch.")
                if not alias.name.startswith("linalg_")
                else alias.name.replace("_", ".", 1)
            )
            there = exists(path) or exists(f"Tensor.{path}") or exists(f"_C._nn.{path}")
            tally.add("method", None if there else f"{alias.name} is missing")
            if exists(path) and exists(info.name) and resolve(path) is not resolve(info.name):
                continue
    return tally


def known() -> dict[str, dict[str, str]]:
    """What differs and why, by operator and category. A category with `*` differs on later samples only."""
    found: dict[str, dict[str, str]] = {}
    for line in KNOWN.read_text(encoding="utf-8").splitlines()[1:]:
        name, category, reason = line.split("\t")
        found.setdefault(name, {})[category] = reason
    return found


def report(name: str, info: Any, limit: int | None = None) -> list[str]:
    """What differs for one operator without a known reason: an empty list is what we want."""
    tally = tally_of(name, info, limit)
    if tally is None:
        return ["missing"]
    explained = {category.rstrip("*") for category in known().get(name, ())}
    return [line for (category, _), line in zip(tally.told, tally.lines(), strict=True) if category not in explained]


def describe(sample: Any) -> str:
    def word(v: Any) -> str:
        if isinstance(v, torch.Tensor):
            if v.layout is not torch.strided:
                return f"T{tuple(v.shape)}/sparse"
            return f"T{tuple(v.shape)}" + ("" if v.is_contiguous() else "/strided")
        if isinstance(v, list | tuple):
            return "[" + ", ".join(map(word, v)) + "]"
        return repr(v)[:40]

    words = [word(sample.input), *map(word, sample.args), *(f"{k}={word(v)}" for k, v in sample.kwargs.items())]
    return "(" + ", ".join(words)[:150] + ")"


def seeds() -> set[str]:
    """The operators that the project began with."""
    return {path.rpartition(".")[2].rstrip("_") for path in paths()}


def summary(tallies: dict[str, Tally | None]) -> None:
    """Percentages: of the operators, those that agree wholly, and of the comparisons, those that agree."""
    first = seeds()
    for title, wanted in ("seeds", True), ("beyond", False):
        group = {n: t for n, t in tallies.items() if (n.split(".")[-1] in first or n.split(".")[0] in first) is wanted}
        some = [t for t in group.values() if t is not None]
        print(f"{title}: {len(group)} operators, {len(group) - len(some)} missing")
        for category in CATEGORIES:
            good, bad = sum(t.good[category] for t in some), sum(t.bad[category] for t in some)
            have = [t for t in some if t.good[category] + t.bad[category]]
            whole = sum(not t.bad[category] for t in have)
            if have:
                print(
                    f"  {category:9}{100 * whole / len(have):6.1f} % of {len(have)} operators, "
                    f"{100 * good / (good + bad):6.2f} % of {good + bad} comparisons"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="operators, by name with or without variant")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--missing", action="store_true", help="only say what does not exist")
    parser.add_argument("--limit", type=int, help="samples of each operator and dtype")
    parser.add_argument("--part", default="0/1", help="of the sorted operators, every n-th: k/n")
    parser.add_argument("--reference", action="store_true", help="torch's larger set of samples")
    parser.add_argument("--summary", action="store_true", help="print percentages")
    parser.add_argument("-v", action="store_true", help="tracebacks")
    options = parser.parse_args()
    k, n = map(int, options.part.split("/"))
    tallies: dict[str, Tally | None] = {}
    for name, info in sorted(table().items())[k::n]:
        if not options.all and not options.missing and name not in options.names and info.name not in options.names:
            continue
        if options.missing:
            tallies[name] = None if our_function(info) is None else Tally(name)
            continue
        tallies[name] = tally = tally_of(name, info, options.limit, reference=options.reference)
        for line in tally.lines() if tally else ():
            print(line, flush=True)
    missing = [name for name, tally in tallies.items() if tally is None]
    if missing:
        print("missing:", " ".join(missing))
    differ = sum(bool(t.told) for t in tallies.values() if t is not None)
    print({"agree": len(tallies) - differ - len(missing), "differ": differ, "missing": len(missing)})
    if options.summary:
        summary(tallies)


if __name__ == "__main__":
    main()
