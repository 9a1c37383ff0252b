"""Every operator of torch's table under `vmap`, alone, inside and outside of `vjp` and `jvp`, and those of each other.

Samples are torch's own. Each tensor gets a dimension of examples, in several ways: all of them first, all
of them last, one of them alone, first and last in turns. As a program it prints what differs::

    python -m tests.oracle.opinfo_vmap svd linalg.qr         # these operators, every sample
    python -m tests.oracle.opinfo_vmap --all --limit 3       # all, three samples of each

Where torch's own transform refuses a sample, nothing is compared.
"""

from __future__ import annotations

import argparse
import sys
import traceback
import warnings
from collections import Counter
from typing import Any

import torch
from tests.oracle.agreement import differences, flat
from tests.oracle.opinfo import samples, table
from tests.oracle.opinfo_calls import cotangents, hides_seed
from tests.oracle.opinfo_compare import UP_TO_PHASE
from tests.oracle.tally import describe, told_of
from tests.oracle.translate import Translation, array_of, our_function, ours_from

import gradpack

SIZE = 3
WAYS = ("vmap", "vmapvjp", "vmapjvp", "vjpvmap", "jvpvmap", "jvpvjp", "vjpvjp")
FORWARD = ("vmapjvp", "jvpvmap", "jvpvjp")  # these need forward mode
ALONE = ("jvpvjp", "vjpvjp")  # no `vmap` in these


def leaves_of(value: Any, found: list[Any]) -> Any:
    """The tensors of nested arguments, each once; arguments with a place where each was."""
    if isinstance(value, torch.Tensor):
        found.append(value)
        return Place(len(found) - 1)
    if type(value) in (list, tuple):
        return type(value)(leaves_of(v, found) for v in value)
    return {k: leaves_of(v, found) for k, v in value.items()} if type(value) is dict else value


class Place:
    """Where a tensor was."""

    def __init__(self, nr: int) -> None:
        self.nr = nr


def filled(value: Any, tensors: Any) -> Any:
    if type(value) is Place:
        return tensors[value.nr]
    if type(value) in (list, tuple):
        return type(value)(filled(v, tensors) for v in value)
    return {k: filled(v, tensors) for k, v in value.items()} if type(value) is dict else value


def variant(t: Any, nr: int, plain: bool) -> Any:
    """Another example like a tensor: floats a little larger, integers and truth values in another order."""
    if plain or not nr:
        return t
    if t.is_floating_point() or t.is_complex():
        return t * (1 + 0.125 * nr)
    return t.flatten().roll(nr).reshape(t.shape)


def ways_to_batch(count: int) -> list[tuple[int | None, ...]]:
    """Dimensions to map over."""
    ways: list[tuple[int | None, ...]] = [(0,) * count, (-1,) * count]
    if count > 1:
        ways.append((0, *(None,) * (count - 1)))
        ways.append((None, *(0,) * (count - 1)))
        ways.append((0, -1, *(0,) * (count - 2)))
    return ways


def is_differentiable(t: Any) -> bool:
    return bool(t.is_floating_point() or t.is_complex())


def transformed(
    lib: Any, way: str, function: Any, form: Any, where: tuple[int, ...], process: Any, dims: tuple[Any, Any]
) -> Any:
    """A function of tensors and of seeds that is made of `vmap`, `vjp` and `jvp`, the first outermost."""
    seen, edims = dims

    def plain(*tensors: Any) -> Any:
        given = filled(form, tensors)
        return function(given[0], *given[1], **given[2])

    if way == "vmap":
        return lambda tensors, seeds: lib.vmap(plain, in_dims=tuple(seen), randomness="same")(*tensors)

    def outs(*chosen: Any) -> Any:
        def call(*inner: Any) -> Any:
            all_of = list(chosen)
            for i, t in zip(where, inner, strict=True):
                all_of[i] = t
            made = flat(process(plain(*all_of)), lib.Tensor)
            return tuple(m for m in made if isinstance(m, lib.Tensor) and is_differentiable(m))

        return call

    def vjp(tensors: Any, seeds: Any) -> Any:
        _, back = lib.func.vjp(outs(*tensors), *[tensors[i] for i in where])
        return back(tuple(seeds))

    def jvp(tensors: Any, tangents: Any) -> Any:
        return lib.func.jvp(outs(*tensors), tuple(tensors[i] for i in where), tuple(tangents))[1]

    def mapped(tensors: Any) -> Any:
        def call(*inner: Any) -> Any:
            all_of = list(tensors)
            for i, t in zip(where, inner, strict=True):
                all_of[i] = t
            each = lib.vmap(lambda *ts: outs(*ts)(*[ts[i] for i in where]), in_dims=tuple(seen), randomness="same")
            return each(*all_of)

        return call

    def outer(tensors: Any, seeds: Any) -> Any:
        chosen = [tensors[i] for i in where]
        if way == "vjpvmap":
            return lib.func.vjp(mapped(tensors), *chosen)[1](tuple(seeds))
        if way == "jvpvmap":
            return lib.func.jvp(mapped(tensors), tuple(chosen), tuple(seeds))[1]
        count = len(seeds) // 2  # cotangents, and what `vjp` of them is differentiated along
        cotangents_, along = list(seeds[:count]), list(seeds[count:])

        def back(*given: Any) -> Any:
            all_of = list(tensors)
            for i, t in zip(where, given, strict=False):
                all_of[i] = t
            return vjp(all_of, given[len(where) :])

        if way == "vjpvjp":
            found, again = lib.func.vjp(back, *chosen, *cotangents_)
            return again(tuple(f * 0.5 for f in found))
        return lib.func.jvp(back, (*chosen, *cotangents_), (*[t * 0.5 for t in chosen], *along))[1]

    inner = {"vmapvjp": vjp, "vmapjvp": jvp}.get(way)
    if inner is None:
        return outer
    return lambda tensors, seeds: lib.vmap(inner, in_dims=(list(seen), edims), randomness="same")(list(tensors), seeds)


class Tally:
    def __init__(self, name: str) -> None:
        self.name = name
        self.good: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.bad: dict[tuple[str, str], str] = {}
        self.count: Counter[str] = Counter()

    def add(self, way: str, told: str | None, words: str) -> None:
        if told is None:
            self.good[way] += 1
        else:
            self.count[way] += 1
            self.bad.setdefault((way, told.split(":")[0]), f"{self.name} {way} {words}: {told}")


def ours_of(t: Any) -> Any:
    return gradpack.from_numpy(array_of(t).copy(order="K"))


def compare(info: Any, function: Any, sample: Any, ways: tuple[str, ...], tally: Tally) -> None:
    tensors: list[Any] = []
    form = leaves_of((sample.input, tuple(sample.args), dict(sample.kwargs)), tensors)
    tensors = [t.detach() for t in tensors]
    if not tensors or any(t.layout is not torch.strided for t in tensors):
        return
    try:
        own_form = Translation()(form)
    except (AttributeError, TypeError, ValueError):
        return
    process = sample.output_process_fn_grad or (lambda x: x)
    words = describe(sample)
    where = tuple(i for i, t in enumerate(tensors) if is_differentiable(t))
    try:
        given = filled(form, tensors)
        made = flat(process(info.op(given[0], *given[1], **given[2])), torch.Tensor)
    except Exception:
        return
    outs = [m for m in made if isinstance(m, torch.Tensor) and is_differentiable(m)]
    for way in ways:
        if way != "vmap" and (not where or not outs or not info.supports_autograd):
            continue
        if way in FORWARD and not info.supports_forward_ad:
            continue
        extra = [] if way == "vmap" else cotangents(outs)
        if way in ("vmapjvp", "jvpvmap"):
            extra = cotangents([tensors[i] for i in where])
        elif way in ALONE:
            extra = [*extra, *[variant(t, 1, False) for t in extra]]
        for dims in [(None,) * len(tensors)] if way in ALONE else ways_to_batch(len(tensors)):
            seen = list(dims)
            edims = [None if way == "vmap" else 0 for _ in extra]
            for plain in (False, True):
                columns = [
                    t if d is None else torch.stack([variant(t, nr, plain) for nr in range(SIZE)], d)
                    for t, d in zip(tensors, seen, strict=True)
                ]
                places: list[int | None] = [0] * len(extra)
                if way == "jvpvmap":
                    places = [dims[i] for i in where]
                elif way in ALONE:
                    places = [None] * len(extra)
                seeds = [
                    t if d is None else torch.stack([variant(t, nr, False) for nr in range(SIZE)], d)
                    for t, d in zip(extra, places, strict=True)
                ]
                told = both(info, function, way, (form, own_form), (columns, seeds), (seen, edims), where, process)
                if told != "refused":
                    break
            if told == "refused":
                tally.refused[way] += 1
            else:
                tally.add(way, told, f"{words} in_dims={dims}")


def both(
    info: Any, function: Any, way: str, forms: Any, values: Any, dims: Any, where: tuple[int, ...], process: Any
) -> str | None:
    columns, seeds = values
    fn = transformed(torch, way, info.op, forms[0], where, process, dims)
    torch.manual_seed(1)
    state = torch.random.get_rng_state()
    try:
        expected = fn(columns, seeds)
    except Exception:
        return "refused"
    if hides_seed(info.op) or not bool((state == torch.random.get_rng_state()).all()) or "empty" in info.name:
        return "refused"
    own = transformed(gradpack, way, function, forms[1], where, ours_from(process), dims)
    mine, own_seeds = [ours_of(c) for c in columns], [ours_of(s) for s in seeds]
    try:
        found = own(mine, own_seeds)
    except Exception as error:
        if "-v" in sys.argv:
            traceback.print_exc()
        return told_of(error)
    if info.name in UP_TO_PHASE:
        return differences(expected, found, "value", 0.0, False)
    return differences(expected, found, "value", 1e-7 if way == "vmap" else 1e-6)


def tally_of(name: str, info: Any, limit: int | None, ways: tuple[str, ...], dtypes: tuple[str, ...]) -> Tally | None:
    function = our_function(info)
    if function is None:
        return None
    tally = Tally(name)
    taken = {str(d).split(".")[1] for d in info.dtypes}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in dtypes:
            if dtype in taken:
                for sample in samples(info, dtype, 0, limit):
                    compare(info, function, sample, ways if dtype in ("float64", "complex128") else ("vmap",), tally)
    return tally


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--ways", default=",".join(WAYS[:3]))
    parser.add_argument("--dtypes", default="float64,int64,bool")
    parser.add_argument("--part", default="0/1", help="which of how many equal parts of the table")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    infos = table()
    part, of = map(int, options.part.split("/"))
    names = sorted(infos)[part::of] if options.all else options.names
    good: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for name in names:
        tally = tally_of(
            name, infos[name], options.limit, tuple(options.ways.split(",")), tuple(options.dtypes.split(","))
        )
        if tally is None:
            continue
        good += tally.good
        bad += tally.count
        refused += tally.refused
        for line in tally.bad.values():
            print(line, flush=True)
    print({"agree": dict(good), "differ": dict(bad), "refused by torch": dict(refused)})


if __name__ == "__main__":
    main()
