"""Calls that all ranks of a group make together, on tensors and on objects.

In each of them a rank has an array for some ranks, or for all, and does something with the arrays that it gets from
some: `share` is all of them but for large reductions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ._arrays import Rank, ReduceOp, as_index, check_op, check_tensor, check_tensors, flat_of, fold, text_of, write
from ._groups import get_group_rank, group_of, member
from ._process_group import Call, ProcessGroup, Work

__all__ = ["all_gather", "all_gather_into_tensor", "all_gather_single", "all_reduce", "all_to_all", "all_to_all_single"]
__all__ += ["barrier", "broadcast", "gather", "monitored_barrier", "reduce", "reduce_scatter", "reduce_scatter_single"]
__all__ += ["reduce_scatter_tensor", "scatter"]

Parts = Callable[[], Sequence[Any]]  # the array for each rank
Put = Callable[[list[Any]], Any]  # what is done with the array of each rank
_SUM = ReduceOp.SUM
_SMALL = 1 << 15  # bytes that are sent to all at once, not in parts


def root_of(pg: ProcessGroup, rank: int | None, group_rank: int | None, name: str, default: int | None = None) -> int:
    """Return the rank in a group that an argument names, among all ranks or in the group.

    Raises:
        ValueError: if none or both are given, or a rank among all is not in the group.
        RuntimeError: if there is no such rank.
    """
    if rank is not None and group_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    if group_rank is None:
        rank = default if rank is None else as_index(rank, name)
        if rank is None:
            raise ValueError("Must specify global_rank or group_rank")
        group_rank = rank if pg is group_of(None) else get_group_rank(pg, rank)
    if not 0 <= as_index(group_rank, f"group_{name}") < pg.size():
        raise RuntimeError(f"invalid rank: {name}={group_rank} is not one of the {pg.size()} ranks of the group")
    return group_rank


def share(
    pg: ProcessGroup, text: str, parts: Parts, sources: range | list[int], put: Put, async_op: bool, result: Any = None
) -> Work | None:
    """Send arrays, and do something with those of other ranks.

    Args:
        text: what the call is, the same on every rank.
        parts: returns the array for each rank, None where nothing is sent.
        sources: the ranks that send something here.
        put: is given the array of each rank, None where nothing is sent.
        result: the tensors that are written.
    """
    me, wanted = pg.rank(), [r for r in sources if r != pg.rank()]

    def work(call: Call) -> Any:
        own = parts()
        got: dict[int, Any] = pg.exchange(call, {r: p for r, p in enumerate(own) if r != me and p is not None}, wanted)
        kind = next((p.dtype for p in own if p is not None), np.uint8)
        put([own[me] if r == me else got[r].view(kind) if r in got else None for r in range(pg.size())])
        return result

    return pg.run(text, work, async_op)


def to_all(pg: ProcessGroup, make: Callable[[], Any], if_here: bool = True) -> Callable[[], list[Any]]:
    return lambda: [make() if if_here else None] * pg.size()


def to_one(pg: ProcessGroup, make: Callable[[], Any], root: int) -> Callable[[], list[Any]]:
    return lambda: [make() if r in (root, pg.rank()) else None for r in range(pg.size())]


def from_all(pg: ProcessGroup, root: int | None = None) -> range:
    """The ranks that send something here: all, or none if this rank is not the root."""
    return range(pg.size() if root in (None, pg.rank()) else 0)


def _write_all(into: Sequence[Tensor]) -> Callable[[list[Any]], None]:
    def put(parts: list[Any]) -> None:
        for to, part in zip(into, parts, strict=True):
            write(to, part)

    return put


def all_reduce(tensor: Tensor, op: Any = _SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Reduce the tensors of all ranks to one, in place, on every rank: the same bits everywhere.

    Returns:
        A handle if `async_op`, else None.

    Raises:
        RuntimeError: if a rank makes another call, has ended, or is late.
    """
    op = check_op(op, check_tensor(tensor, "tensor"))
    if (pg := member(group, "all_reduce")) is None:
        return None
    text, n, me = text_of("all_reduce", tensor, op), pg.size(), pg.rank()
    if n <= 2 or tensor.numel() * tensor.element_size() <= _SMALL:
        own = flat_of(tensor)
        to = own if n == 2 else None
        return share(
            pg, text, lambda: [own] * n, range(n), lambda parts: write(tensor, fold(op, parts, to)), async_op, [tensor]
        )

    def work(call: Call) -> list[Tensor]:
        own, others = flat_of(tensor), [r for r in range(n) if r != me]
        cut = [own[low:high] for low, high in pairwise([own.size * r // n for r in range(n + 1)])]
        got = pg.exchange(call, {r: cut[r] for r in others}, others)  # each rank reduces one part
        mine = fold(op, [cut[me] if r == me else got[r].view(own.dtype) for r in range(n)])
        got = pg.exchange(call, dict.fromkeys(others, mine), others) | {me: mine}
        for r, part in enumerate(cut):
            part[...] = got[r].view(own.dtype)
        write(tensor, own)
        return [tensor]

    return pg.run(text, work, async_op)


def reduce(
    tensor: Tensor, dst: Rank = None, op: Any = _SUM, group: Any = None, async_op: bool = False, group_dst: Rank = None
) -> Work | None:
    """Reduce the tensors of all ranks to one, in place, on rank `dst`."""
    op = check_op(op, check_tensor(tensor, "tensor"))
    if (pg := member(group, "reduce")) is None:
        return None
    root = root_of(pg, dst, group_dst, "dst")

    def put(parts: list[Any]) -> None:
        if pg.rank() == root:
            write(tensor, fold(op, parts))

    text = text_of("reduce", tensor, op, f"dst={root}")
    return share(pg, text, to_one(pg, lambda: flat_of(tensor), root), from_all(pg, root), put, async_op, [tensor])


def broadcast(
    tensor: Tensor, src: Rank = None, group: Any = None, async_op: bool = False, group_src: Rank = None
) -> Work | None:
    """Copy the tensor of rank `src` into those of all other ranks."""
    check_tensor(tensor, "tensor")
    if (pg := member(group, "broadcast")) is None:
        return None
    root = root_of(pg, src, group_src, "src")
    here, text = pg.rank() == root, text_of("broadcast", tensor, f"src={root}")

    def put(parts: list[Any]) -> None:
        if not here:
            write(tensor, parts[root])

    return share(pg, text, to_all(pg, lambda: flat_of(tensor), here), [root], put, async_op, [tensor])


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """Copy the tensor of every rank into the list of every rank, in the order of the ranks."""
    if (pg := member(group, "all_gather")) is None:
        return None
    into = check_tensors(tensor_list, "tensor_list", check_tensor(tensor, "tensor"), pg.size())
    own = to_all(pg, lambda: flat_of(tensor))
    return share(pg, text_of("all_gather", tensor), own, from_all(pg), _write_all(into), async_op, into)


def _check_parts(whole: Tensor, part: Tensor, name: str, count: int) -> None:
    check_tensor(part, "tensor")
    if check_tensor(whole, name).dtype is not part.dtype or whole.numel() != count * part.numel():
        raise RuntimeError(
            f"`{name}` has {whole.numel()} elements of {whole.dtype}: {count} ranks with {part.numel()} each of "
            f"{part.dtype} need {count * part.numel()} of that dtype"
        )


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy the tensors of all ranks, one after the other, into one tensor on every rank."""
    if (pg := member(group, "all_gather_into_tensor")) is None:
        return None
    _check_parts(output_tensor, input_tensor, "output_tensor", pg.size())

    def put(parts: list[Any]) -> None:
        write(output_tensor, np.concatenate(parts))

    text, own = text_of("all_gather_into_tensor", input_tensor), to_all(pg, lambda: flat_of(input_tensor))
    return share(pg, text, own, from_all(pg), put, async_op, [output_tensor])


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = _SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce the lists of all ranks, tensor by tensor; each rank gets the one at its place."""
    op = check_op(op, check_tensor(output, "output"))
    if (pg := member(group, "reduce_scatter")) is None:
        return None
    parts = check_tensors(input_list, "input_list", output, pg.size())
    text = text_of("reduce_scatter", output, op)

    def put(got: list[Any]) -> None:
        write(output, fold(op, got))

    return share(pg, text, lambda: list(map(flat_of, parts)), from_all(pg), put, async_op, [output])


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = _SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce the tensors of all ranks; each rank gets a part of the result, in the order of the ranks."""
    if (pg := member(group, "reduce_scatter_tensor")) is None:
        return None
    _check_parts(input, output, "input", pg.size())
    parts = [part.view(output.shape) for part in input.detach().reshape(-1).chunk(pg.size())]
    return reduce_scatter(output, parts, op, group, async_op)


all_gather_single, reduce_scatter_single = all_gather_into_tensor, reduce_scatter_tensor


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None, async_op: bool = False
) -> Work | None:
    """Send each tensor of a list to the rank at its place, and write what comes from each rank into another list.

    Shapes may differ: a rank has to have as much room for another as that one sends.
    """
    if (pg := member(group, "all_to_all")) is None:
        return None
    into = check_tensors(output_tensor_list, "output_tensor_list", count=pg.size())
    parts = check_tensors(input_tensor_list, "input_tensor_list", count=pg.size())
    dtypes = {t.dtype for t in (*into, *parts)}
    if len(dtypes) > 1:
        raise ValueError(f"all_to_all: tensors of different dtypes: {', '.join(map(str, dtypes))}; give one dtype")

    def fits(rank: int, size: int) -> None:
        if size != into[rank].numel():
            said = f"rank {pg.ranks[rank]} sends {size} elements to rank {pg.ranks[pg.rank()]}"
            raise RuntimeError(f"all_to_all: {said}, which has room for {into[rank].numel()}")

    def put(got: list[Any]) -> None:
        for r, part in enumerate(got):
            fits(r, part.size)
            write(into[r], part)

    fits(pg.rank(), parts[pg.rank()].numel())
    text = f"all_to_all({parts[0].dtype})"
    return share(pg, text, lambda: list(map(flat_of, parts)), from_all(pg), put, async_op, into)


def _cut(tensor: Tensor, sizes: Sequence[int] | None, count: int) -> list[Tensor]:
    """Divide the first dimension among ranks: as is said, or equally."""
    n = tensor.shape[0]
    if not sizes and n % count:
        raise RuntimeError(f"Tensor's dim 0 does not divide equally across group size: {n} among {count} ranks")
    if sizes and len(sizes) != count:
        raise RuntimeError(f"Number of tensor splits not equal to group size: {len(sizes)} for {count} ranks")
    if sizes and sum(sizes) != n:
        raise RuntimeError(f"Split sizes doesn't match total dim 0 size: {list(sizes)} for {n}")
    return list(tensor.detach().split(list(sizes) if sizes else [n // count] * count))


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Send each rank a part of the first dimension, and write what comes from each rank, one after the other.

    Args:
        output_split_sizes, input_split_sizes: the length of the part of each rank: all equal unless given.
    """
    if (pg := member(group, "all_to_all_single")) is None:
        return None
    into = _cut(check_tensor(output, "output"), output_split_sizes, pg.size())
    return all_to_all(into, _cut(check_tensor(input, "input"), input_split_sizes, pg.size()), pg, async_op)


def only_at_root(given: Any, name: str, here: bool, who: str) -> None:
    if here and given is None:
        raise ValueError(f"Argument ``{name}`` must be specified on {who} rank.")
    if not here and given:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{who} ranks.")


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: Rank = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: Rank = None,
) -> Work | None:
    """Copy the tensors of all ranks into the list of rank `dst`, or 0."""
    check_tensor(tensor, "tensor")
    if (pg := member(group, "gather")) is None:
        return None
    root = root_of(pg, dst, group_dst, "dst", 0)
    here, own = pg.rank() == root, to_one(pg, lambda: flat_of(tensor), root)
    only_at_root(gather_list, "gather_list", here, "destination")
    into = check_tensors(gather_list, "gather_list", tensor, pg.size()) if here else []
    put = _write_all(into) if here else len
    return share(pg, text_of("gather", tensor, f"dst={root}"), own, from_all(pg, root), put, async_op, into)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: Rank = None,
    group: Any = None,
    async_op: bool = False,
    group_src: Rank = None,
) -> Work | None:
    """Copy the tensors in the list of rank `src`, or 0, to the ranks, one to each."""
    check_tensor(tensor, "tensor")
    if (pg := member(group, "scatter")) is None:
        return None
    root = root_of(pg, src, group_src, "src", 0)
    only_at_root(scatter_list, "scatter_list", pg.rank() == root, "source")
    listed = check_tensors(scatter_list, "scatter_list", tensor, pg.size()) if pg.rank() == root else []
    parts = (lambda: list(map(flat_of, listed))) if listed else to_all(pg, lambda: None)
    text = text_of("scatter", tensor, f"src={root}")
    return share(pg, text, parts, [root], lambda got: write(tensor, got[root]), async_op, [tensor])


def barrier(
    group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: timedelta | None = None
) -> Work | None:
    """Wait until all ranks of a group have come here."""
    if (pg := member(group, "barrier")) is None:
        return None
    seconds, others = None if timeout is None else timeout.total_seconds(), [r for r in from_all(pg) if r != pg.rank()]

    def work(call: Call) -> list[Tensor]:
        pg.exchange(call, dict.fromkeys(others), others)
        return []

    return pg.run("barrier()", work, async_op, seconds)


def monitored_barrier(group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
    """Wait until all ranks of a group have come here; the error after the timeout names those that have not."""
    barrier(group, timeout=timeout)
