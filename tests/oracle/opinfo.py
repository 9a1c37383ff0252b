"""Every operation on torch's own sample inputs, by both libraries.

torch tests its operators with a table of them (`op_db`): samples for each dtype, bad inputs, and what
each operator supports. The same samples are given to gradpack here. As a program it prints what
differs::

    python -m tests.oracle.opinfo svd linalg.qr                # these operators, every sample
    python -m tests.oracle.opinfo --all --limit 10 --summary   # all, ten samples of each and dtype
    python -m tests.oracle.opinfo --all --summary --jobs 2     # every sample, by two processes
    python -m tests.oracle.opinfo --all --strided --seed 1     # other random numbers, nothing contiguous

Each comparison belongs to a category: `forward` (values), `dtype` (of results), `backward`, `double`
(backward of backward), `tangent` (forward mode), `inplace`, `method` (and the operators, and other names),
`out`, `refused` (bad input, and dtypes that torch does not take), `strides` (where results lie in memory:
counted, and told with `--strides`).
"""

from __future__ import annotations

import argparse
import inspect
import random
import sys
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from tests.oracle.agreement import flat, name_of
from tests.oracle.opinfo_calls import refusal
from tests.oracle.opinfo_compare import compare, tangents
from tests.oracle.opinfo_forms import other_forms, outs
from tests.oracle.opinfo_summary import summary
from tests.oracle.tally import Tally, describe
from tests.oracle.translate import Translation, exists, our_function, resolve

CATEGORIES = "forward dtype backward double tangent inplace method out refused strides".split()
DTYPES = "float64 complex128 float32 int64 bool bfloat16 float16 uint8 complex64 int32 int16 int8 complex32".split()
OUT_DTYPES = ("float64", "float32", "complex64", "int64", "uint8", "bool")
DIFFERENTIATED = ("float64", "complex128", "float32", "complex64", "bfloat16", "float16", "complex32")
TWICE = ("float64", "complex128")  # second derivatives, and forward mode
KNOWN = Path(__file__).with_name("opinfo_known.tsv")


class How(NamedTuple):
    """Which samples."""

    seed: int = 0
    reference: bool = False  # torch's larger set
    strided: bool = False  # nothing contiguous


HOW = How()


def table() -> dict[str, Any]:
    """Every OpInfo by its full name, `name` or `name.variant`."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {o.name + (f".{o.variant_test_name}" if o.variant_test_name else ""): o for o in op_db}


def samples(info: Any, dtype: str, order: int, limit: int | None, how: How = HOW) -> Iterator[Any]:
    torch.manual_seed(how.seed)
    random.seed(how.seed)
    np.random.seed(how.seed)  # noqa: NPY002 - what torch's samples draw from
    if info.name == "as_strided" and info.variant_test_name == "partial_views":
        return  # about memory before the tensor: a translated one has none
    make = info.reference_inputs if how.reference else info.sample_inputs
    made = make("cpu", getattr(torch, dtype), requires_grad=order > 0, set_seed=how.seed == 0)
    for i, sample in enumerate(made):
        if limit is not None and i >= limit:
            return
        given = flat((sample.input, *sample.args, *sample.kwargs.values()), torch.Tensor)
        if any(isinstance(t, torch.Tensor) and t.layout not in (torch.strided, torch.sparse_coo) for t in given):
            continue  # compressed layouts: gradpack has coordinates only
        sample = sample.transform(of_its_own)
        yield sample.noncontiguous() if how.strided else sample


def of_its_own(value: Any) -> Any:
    """A leaf that is a view made without grad, whose gradient torch loses, as an ordinary leaf."""
    if isinstance(value, torch.Tensor) and value.requires_grad and value.is_leaf and value._is_view():
        return value.detach().requires_grad_()
    return value


def bad_inputs(info: Any, function: Any, tally: Tally) -> None:
    """What torch refuses: its list of bad inputs, and dtypes that it does not take."""
    bad = [b.sample_input for b in info.error_inputs("cpu")] if info.error_inputs_func is not None else []
    taken = {name_of(d) for d in info.dtypes}
    for dtype in DTYPES:
        if dtype == "complex32":
            continue  # more operations take it here: docs/differences.md
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
    how: How = HOW,
) -> Tally | None:
    """Everything about one operator; None where it does not exist."""
    function = our_function(info)
    if function is None:
        return None
    tally = Tally(name, info.name)
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
                order = 2 if info.supports_gradgrad and dtype in TWICE else 1
            for i, sample in enumerate(samples(info, dtype, order, limit, how)):
                try:
                    compare(info, function, sample, dtype, order, tally)
                    if "tangent" in categories and order and info.supports_forward_ad and dtype in TWICE:
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
    """What differs on two samples and why, by operator and category."""
    found: dict[str, dict[str, str]] = {}
    for line in KNOWN.read_text(encoding="utf-8").splitlines()[1:]:
        name, category, reason = line.split("\t")
        found.setdefault(name, {})[category] = reason
    return found


def report(name: str, info: Any, limit: int | None = None) -> list[str]:
    """What differs for one operator and is not explained: an empty list is what we want."""
    tally = tally_of(name, info, limit)
    return ["missing"] if tally is None else tally.lines(("strides", *explained(name)))


def explained(name: str) -> set[str]:
    """The categories in which an operator differs for a reason.

    One list is of what two samples show, the other of what shows with all of them, or in more dtypes.
    """
    rows: list[list[str]] = []
    for file in KNOWN, KNOWN.with_name("opinfo_known_beyond.tsv"):
        rows += [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]
    return {category for operator, category, _ in rows if operator == name}


def tally_named(name: str, limit: int | None, how: How) -> tuple[str, Tally | None]:
    return name, tally_of(name, table()[name], limit, how=how)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="operators, by name with or without variant")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--missing", action="store_true", help="only say what does not exist")
    parser.add_argument("--limit", type=int, help="samples of each operator and dtype")
    parser.add_argument("--part", default="0/1", help="of the sorted operators, every n-th: k/n")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seed", type=int, default=0, help="of the numbers in the samples")
    parser.add_argument("--strided", action="store_true", help="samples that are not contiguous")
    parser.add_argument("--reference", action="store_true", help="torch's larger set of samples")
    parser.add_argument("--strides", action="store_true", help="tell where results lie in memory otherwise")
    parser.add_argument("--summary", action="store_true", help="print percentages")
    parser.add_argument("-v", action="store_true", help="tracebacks")
    options = parser.parse_args()
    k, n = map(int, options.part.split("/"))
    infos = sorted(table().items())[k::n]
    if options.missing:
        print("missing:", *(name for name, info in infos if our_function(info) is None))
        return
    asked = [m for m, info in infos if options.all or m in options.names or info.name in options.names]
    one = partial(tally_named, limit=options.limit, how=How(options.seed, options.reference, options.strided))
    tallies: dict[str, Tally | None] = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for name, tally in pool.map(one, asked) if options.jobs > 1 else map(one, asked):
            tallies[name] = tally
            for line in tally.lines(() if options.strides else ("strides",)) if tally else ():
                print(line, flush=True)
    missing = [name for name, tally in tallies.items() if tally is None]
    if missing:
        print("missing:", *missing)
    if options.summary:
        summary(tallies, CATEGORIES)


if __name__ == "__main__":
    main()
