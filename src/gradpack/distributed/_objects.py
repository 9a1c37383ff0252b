"""Objects that ranks exchange: they are pickled, and come from ranks of the same program."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import Rank
from ._collectives import from_all, only_at_root, root_of, share, to_all, to_one
from ._groups import member
from ._process_group import ProcessGroup

__all__ = ["all_gather_object", "broadcast_object_list", "gather_object", "scatter_object_list"]


def pickled(value: Any) -> Any:
    """Return an object as an array of bytes."""
    return np.frombuffer(pickle.dumps(value), "u1")


def unpickled(data: Any) -> Any:
    """Return the object that `pickled` made bytes of. They come from ranks of this program."""
    return pickle.loads(data.tobytes())  # noqa: S301


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Put the objects of all ranks, which are pickled, into the list of every rank."""
    if (pg := member(group, "all_gather_object")) is not None:
        _check_places(object_list, "object_list", pg)
        own, put = to_all(pg, lambda: pickled(obj)), _put_objects(object_list)
        share(pg, "all_gather_object()", own, from_all(pg), put, False)


def _check_places(into: list[Any], name: str, pg: ProcessGroup) -> None:
    if len(into) != pg.size():
        raise ValueError(f"`{name}` has {len(into)} places: the {pg.size()} ranks of the group need one each")


def _put_objects(into: list[Any]) -> Callable[[list[Any]], None]:
    def put(parts: list[Any]) -> None:
        into[:] = map(unpickled, parts)

    return put


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: Rank = None, group: Any = None, group_dst: Rank = None
) -> None:
    """Put the objects of all ranks, which are pickled, into the list of rank `dst`, or 0."""
    if (pg := member(group, "gather_object")) is None:
        return
    root = root_of(pg, dst, group_dst, "dst", 0)
    only_at_root(object_gather_list, "object_gather_list", pg.rank() == root, "destination")
    if object_gather_list is not None:
        _check_places(object_gather_list, "object_gather_list", pg)
    own = to_one(pg, lambda: pickled(obj), root)
    put = _put_objects(object_gather_list) if object_gather_list is not None else len
    share(pg, f"gather_object(dst={root})", own, from_all(pg, root), put, False)


def broadcast_object_list(
    object_list: list[Any], src: Rank = None, group: Any = None, device: Any = None, group_src: Rank = None
) -> None:
    """Copy the objects of rank `src`, or 0, which are pickled, into the lists of all other ranks."""
    if (pg := member(group, "broadcast_object_list")) is not None:
        root = root_of(pg, src, group_src, "src", 0)
        own = to_all(pg, lambda: pickled(object_list), pg.rank() == root)
        text = f"broadcast_object_list({len(object_list)} objects, src={root})"

        def put(parts: list[Any]) -> None:
            object_list[:] = unpickled(parts[root])

        share(pg, text, own, [root], put, False)


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: Rank = None,
    group: Any = None,
    group_src: Rank = None,
) -> None:
    """Put one object of the list of rank `src`, or 0, which are pickled, into the first place of the list of each rank.

    Raises:
        ValueError: for a list without a place, and for one with another number of objects than ranks.
    """
    if (pg := member(group, "scatter_object_list")) is None:
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    root = root_of(pg, src, group_src, "src", 0)
    here = pg.rank() == root
    if here:
        only_at_root(scatter_object_input_list, "scatter_object_input_list", here, "source")
        _check_places(scatter_object_input_list or [], "scatter_object_input_list", pg)

    def put(parts: list[Any]) -> None:
        scatter_object_output_list[0] = unpickled(parts[root])

    own = (lambda: list(map(pickled, scatter_object_input_list or []))) if here else to_all(pg, lambda: None)
    share(pg, f"scatter_object_list(src={root})", own, [root], put, False)
