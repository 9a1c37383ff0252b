"""Calls that all ranks of a group make together, on tensors and on objects.

In each of them a rank has an array for some ranks, or for all, and does something with the arrays that it gets from
some: `_share` is all of them but for large reductions.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ._arrays import ReduceOp, check_op, check_tensor, check_tensors, flat_of, fold, text_of, write
from ._process_group import Call, ProcessGroup, Work
from ._world import get_group_rank, member

__all__ = ["all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "barrier", "broadcast"]
__all__ += ["broadcast_object_list", "gather", "gather_object", "monitored_barrier", "reduce", "reduce_scatter"]
__all__ += ["reduce_scatter_tensor", "scatter"]

_SMALL = 1 << 15  # bytes that are sent to all at once, not in parts


def root_of(pg: ProcessGroup, rank: int | None, group_rank: int | None, name: str, default: int | None = None) -> int:
    """Return the rank in a group that an argument names, among all ranks or in the group.

    Raises:
        ValueError: if none or both are given, or it is not in the group.
    """
    if rank is not None and group_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    rank = default if rank is None else rank
    if group_rank is None:
        if rank is None:
            raise ValueError("Must specify global_rank or group_rank")
        return get_group_rank(pg, rank)
    if not 0 <= group_rank < pg.size():
        raise ValueError(f"group_{name}={group_rank} is not one of the {pg.size()} ranks of the group")
    return group_rank


def _share(
    pg: ProcessGroup,
    text: str,
    parts: Callable[[], Sequence[Any]],
    sources: Iterable[int],
    put: Callable[[list[Any]], Any],
    async_op: bool = False,
    result: Any = None,
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


def _to_all(pg: ProcessGroup, make: Callable[[], Any], if_here: bool = True) -> Callable[[], list[Any]]:
    return lambda: [make() if if_here else None] * pg.size()


def _to_one(pg: ProcessGroup, make: Callable[[], Any], root: int) -> Callable[[], list[Any]]:
    return lambda: [make() if r in (root, pg.rank()) else None for r in range(pg.size())]


def _from_all(pg: ProcessGroup, root: int | None = None) -> range:
    """The ranks that send something here: all, or none if this rank is not the root."""
    return range(pg.size() if root in (None, pg.rank()) else 0)


def _write_all(into: Sequence[Tensor]) -> Callable[[list[Any]], None]:
    def put(parts: list[Any]) -> None:
        for to, part in zip(into, parts, strict=True):
            write(to, part)

    return put


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Reduce the tensors of all ranks to one, in place, on every rank: the same bits everywhere.

    Returns:
        A handle if `async_op`, else None.

    Raises:
        RuntimeError: if a rank makes another call, has ended, or is late.
    """
    op, pg = check_op(op, check_tensor(tensor, "tensor")), member(group, "all_reduce")
    if pg is None:
        return None
    text, n, me = text_of("all_reduce", tensor, op), pg.size(), pg.rank()
    if n <= 2 or tensor.numel() * tensor.element_size() <= _SMALL:
        own = flat_of(tensor)
        to = own if n == 2 else None
        return _share(
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
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce the tensors of all ranks to one, in place, on rank `dst`."""
    op, pg = check_op(op, check_tensor(tensor, "tensor")), member(group, "reduce")
    if pg is None:
        return None
    root = root_of(pg, dst, group_dst, "dst")

    def put(parts: list[Any]) -> None:
        if pg.rank() == root:
            write(tensor, fold(op, parts))

    text = text_of("reduce", tensor, op, f"dst={root}")
    return _share(pg, text, _to_one(pg, lambda: flat_of(tensor), root), _from_all(pg, root), put, async_op, [tensor])


def broadcast(
    tensor: Tensor, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Copy the tensor of rank `src` into those of all other ranks."""
    check_tensor(tensor, "tensor")
    pg = member(group, "broadcast")
    if pg is None:
        return None
    root = root_of(pg, src, group_src, "src")
    here, text = pg.rank() == root, text_of("broadcast", tensor, f"src={root}")

    def put(parts: list[Any]) -> None:
        if not here:
            write(tensor, parts[root])

    return _share(pg, text, _to_all(pg, lambda: flat_of(tensor), here), [root], put, async_op, [tensor])


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """Copy the tensor of every rank into the list of every rank, in the order of the ranks."""
    pg = member(group, "all_gather")
    if pg is None:
        return None
    into = check_tensors(tensor_list, "tensor_list", check_tensor(tensor, "tensor"), pg.size())
    own = _to_all(pg, lambda: flat_of(tensor))
    return _share(pg, text_of("all_gather", tensor), own, _from_all(pg), _write_all(into), async_op, into)


def _check_parts(whole: Tensor, part: Tensor, name: str, count: int) -> None:
    check_tensor(part, "tensor")
    if check_tensor(whole, name).dtype is not part.dtype or whole.numel() != count * part.numel():
        raise ValueError(
            f"`{name}` has {whole.numel()} elements of {whole.dtype}: {count} ranks with {part.numel()} each of "
            f"{part.dtype} need {count * part.numel()} of that dtype"
        )


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy the tensors of all ranks, one after the other, into one tensor on every rank."""
    pg = member(group, "all_gather_into_tensor")
    if pg is None:
        return None
    _check_parts(output_tensor, input_tensor, "output_tensor", pg.size())

    def put(parts: list[Any]) -> None:
        write(output_tensor, np.concatenate(parts))

    text, own = text_of("all_gather_into_tensor", input_tensor), _to_all(pg, lambda: flat_of(input_tensor))
    return _share(pg, text, own, _from_all(pg), put, async_op, [output_tensor])


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce the lists of all ranks, tensor by tensor; each rank gets the one at its place."""
    op, pg = check_op(op, check_tensor(output, "output")), member(group, "reduce_scatter")
    if pg is None:
        return None
    parts = check_tensors(input_list, "input_list", output, pg.size())
    text = text_of("reduce_scatter", output, op)
    return _share(
        pg,
        text,
        lambda: list(map(flat_of, parts)),
        _from_all(pg),
        lambda got: write(output, fold(op, got)),
        async_op,
        [output],
    )


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce the tensors of all ranks; each rank gets a part of the result, in the order of the ranks."""
    pg = member(group, "reduce_scatter_tensor")
    if pg is None:
        return None
    _check_parts(input, output, "input", pg.size())
    parts = [part.view(output.shape) for part in input.detach().reshape(-1).chunk(pg.size())]
    return reduce_scatter(output, parts, op, group, async_op)


def _only_at_root(given: Any, name: str, here: bool, who: str) -> None:
    if here and given is None:
        raise ValueError(f"Argument ``{name}`` must be specified on {who} rank.")
    if not here and given:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{who} ranks.")


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Copy the tensors of all ranks into the list of rank `dst`, or 0."""
    check_tensor(tensor, "tensor")
    pg = member(group, "gather")
    if pg is None:
        return None
    root = root_of(pg, dst, group_dst, "dst", 0)
    here, own = pg.rank() == root, _to_one(pg, lambda: flat_of(tensor), root)
    _only_at_root(gather_list, "gather_list", here, "destination")
    into = check_tensors(gather_list, "gather_list", tensor, pg.size()) if here else []
    put = _write_all(into) if here else len
    return _share(pg, text_of("gather", tensor, f"dst={root}"), own, _from_all(pg, root), put, async_op, into)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Copy the tensors in the list of rank `src`, or 0, to the ranks, one to each."""
    check_tensor(tensor, "tensor")
    pg = member(group, "scatter")
    if pg is None:
        return None
    root = root_of(pg, src, group_src, "src", 0)
    _only_at_root(scatter_list, "scatter_list", pg.rank() == root, "source")
    listed = check_tensors(scatter_list, "scatter_list", tensor, pg.size()) if pg.rank() == root else []
    parts = (lambda: list(map(flat_of, listed))) if listed else _to_all(pg, lambda: None)
    text = text_of("scatter", tensor, f"src={root}")
    return _share(pg, text, parts, [root], lambda got: write(tensor, got[root]), async_op, [tensor])


def barrier(
    group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: timedelta | None = None
) -> Work | None:
    """Wait until all ranks of a group have come here."""
    pg = member(group, "barrier")
    if pg is None:
        return None
    seconds, others = None if timeout is None else timeout.total_seconds(), [r for r in _from_all(pg) if r != pg.rank()]
    return pg.run("barrier()", lambda call: pg.exchange(call, dict.fromkeys(others), others), async_op, seconds)


def monitored_barrier(group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
    """Wait until all ranks of a group have come here; the error after the timeout names those that have not."""
    barrier(group, timeout=timeout)


def pickled(value: Any) -> Any:
    """Return an object as an array of bytes."""
    return np.frombuffer(pickle.dumps(value), "u1")


def unpickled(data: Any) -> Any:
    """Return the object that `pickled` made bytes of. They come from ranks of this program."""
    return pickle.loads(data.tobytes())  # noqa: S301


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Put the objects of all ranks, which are pickled, into the list of every rank."""
    pg = member(group, "all_gather_object")
    if pg is not None:
        _check_places(object_list, "object_list", pg)
        own, put = _to_all(pg, lambda: pickled(obj)), _put_objects(object_list)
        _share(pg, "all_gather_object()", own, _from_all(pg), put)


def _check_places(into: list[Any], name: str, pg: ProcessGroup) -> None:
    if len(into) != pg.size():
        raise ValueError(
            f"`{name}` has {len(into)} places, and the group has {pg.size()} ranks: one for each is needed"
        )


def _put_objects(into: list[Any]) -> Callable[[list[Any]], None]:
    def put(parts: list[Any]) -> None:
        into[:] = map(unpickled, parts)

    return put


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Put the objects of all ranks, which are pickled, into the list of rank `dst`, or 0."""
    pg = member(group, "gather_object")
    if pg is None:
        return
    root = root_of(pg, dst, group_dst, "dst", 0)
    _only_at_root(object_gather_list, "object_gather_list", pg.rank() == root, "destination")
    if object_gather_list is not None:
        _check_places(object_gather_list, "object_gather_list", pg)
    own = _to_one(pg, lambda: pickled(obj), root)
    put = _put_objects(object_gather_list) if object_gather_list is not None else len
    _share(pg, f"gather_object(dst={root})", own, _from_all(pg, root), put)


def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None, group_src: int | None = None
) -> None:
    """Copy the objects of rank `src`, or 0, which are pickled, into the lists of all other ranks."""
    pg = member(group, "broadcast_object_list")
    if pg is not None:
        root = root_of(pg, src, group_src, "src", 0)
        own = _to_all(pg, lambda: pickled(object_list), pg.rank() == root)
        text = f"broadcast_object_list({len(object_list)} objects, src={root})"

        def put(parts: list[Any]) -> None:
            object_list[:] = unpickled(parts[root])

        _share(pg, text, own, [root], put)
