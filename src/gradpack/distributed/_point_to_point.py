"""Tensors that one rank sends to another."""

from __future__ import annotations

from collections import deque
from math import prod
from time import monotonic
from typing import Any

from ..base.futures import Future
from ..core.tensor import Tensor
from ._arrays import Rank, check_tensor, flat_of, write
from ._collectives import root_of
from ._groups import group_of, member
from ._mailbox import DistBackendError, Gone, Late, Message
from ._process_group import ProcessGroup, Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def _peer(pg: ProcessGroup, rank: int | None, group_rank: int | None, word: str) -> int:
    found = root_of(pg, rank, group_rank, word)
    if found == pg.rank():
        raise ValueError(f"Invalid {word} rank: {word} rank should not be the same as the rank of the current process.")
    return found


def isend(tensor: Tensor, dst: Rank = None, group: Any = None, tag: int = 0, group_dst: Rank = None) -> Work | None:
    """Send a tensor to rank `dst`; return a handle. It is not to be written to before `wait`."""
    check_tensor(tensor, "tensor")
    if (pg := member(group, "isend")) is None:
        return None
    to = pg.ranks[_peer(pg, dst, group_dst, "destination")]
    pg.check()
    label, late = (str(tensor.dtype), list(tensor.shape)), monotonic() + pg.timeout
    channel = pg.group_name, str(tag)
    pg.transport.send(to, channel, label, flat_of(tensor), late)
    sent: Future[Any] = Future()

    def settle(seconds: float | None) -> bool:
        try:
            pg.transport.flush(monotonic() + (pg.timeout if seconds is None else seconds))
        except Late:
            return False
        ended = pg.transport.box.gone([to])
        if ended and pg.transport.may_be_unread(to, channel):
            raise DistBackendError(f"rank {pg.transport.rank} in send(): {ended[0]}")
        if not sent.done():
            sent.set_result([])
        return True

    return Work(sent, settle)


def send(tensor: Tensor, dst: Rank = None, group: Any = None, tag: int = 0, group_dst: Rank = None) -> None:
    """Send a tensor to rank `dst`, which calls `recv` with the same tag."""
    if (work := isend(tensor, dst, group, tag, group_dst)) is not None:
        work.wait()


def irecv(tensor: Tensor, src: Rank = None, group: Any = None, tag: int = 0, group_src: Rank = None) -> Work | None:
    """Return a handle whose `wait` writes the next tensor of rank `src`, or of any rank, into this one."""
    check_tensor(tensor, "tensor")
    if (pg := member(group, "irecv")) is None:
        return None
    anyone = src is None and group_src is None
    sources = pg.others if anyone else (pg.ranks[_peer(pg, src, group_src, "source")],)
    queue = pg.posted.setdefault((tag, sources), deque())
    future: Future[Any] = Future()
    queue.append((tensor, future))

    def settle(seconds: float | None) -> bool:
        while not future.done():  # those that were asked for before come first
            pg.check()
            deadline = monotonic() + (pg.timeout if seconds is None else seconds)
            try:
                message = pg.transport.box.take((pg.group_name, str(tag)), sources, deadline)
            except Gone as error:
                raise DistBackendError(f"rank {pg.transport.rank} in recv(): {error}") from None
            except Late:
                if seconds == 0:
                    return False
                said = f"rank {pg.transport.rank} in recv() has waited too long for rank"
                raise DistBackendError(f"{said} {' or '.join(map(str, sources))}") from None
            into, done = queue.popleft()
            try:
                _fill(into, message)
            except RuntimeError as error:
                done.set_exception(error)
            else:
                done.set_result([into, message.source])
        return True

    return Work(future, settle)


def _fill(tensor: Tensor, message: Message) -> None:
    kind, shape = message.label
    if kind != str(tensor.dtype) or prod(shape) != tensor.numel():
        raise RuntimeError(
            f"recv(): rank {message.source} sent {kind} {shape}, which does not fit into {tensor.dtype} "
            f"{list(tensor.shape)}: give a tensor of that dtype and size"
        )
    write(tensor, message.data)


def recv(tensor: Tensor, src: Rank = None, group: Any = None, tag: int = 0, group_src: Rank = None) -> int:
    """Wait for a tensor of rank `src`, or of any rank, and write it into this one.

    Returns:
        The rank that sent it; -1 if this rank is not in the group.

    Raises:
        RuntimeError: if the rank has ended, nothing comes in time, or what comes does not fit.
    """
    if (work := irecv(tensor, src, group, tag, group_src)) is None:
        return -1
    work.wait()
    return work.source_rank()


class P2POp:
    """A tensor to send or to receive, for `batch_isend_irecv`.

    Args:
        op: `isend` or `irecv`.
        peer, group_peer: the other rank, among all or in the group.

    Raises:
        ValueError: for another function, and without another rank.
    """

    def __init__(
        self, op: Any, tensor: Tensor, peer: Rank = None, group: Any = None, tag: int = 0, group_peer: Rank = None
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``torch.distributed.isend`` or ``torch.distributed.irecv``.")
        self.op, self.tensor, self.group, self.tag = op, check_tensor(tensor, "tensor"), group_of(group), tag
        if self.group is not None:
            self.group_peer = _peer(self.group, peer, group_peer, "destination" if op is isend else "source")
            self.peer = self.group.ranks[self.group_peer]

    def __repr__(self) -> str:
        where = ""
        if self.group is not None:
            ends = self.group.rank(), self.group_peer
            source, target = ends if self.op is isend else ends[::-1]
            where = f" pg={self.group.group_name}, group_src={source}, group_dst={target}, "
        return f"P2POp({self.op.__name__}{where} {self.tensor.shape}, {self.tensor.dtype})"


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Start to send and to receive all tensors of a list, and return the handles.

    Raises:
        ValueError: for other things than `P2POp` in the list.
    """
    if not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to be of type ``torch.distributed.P2POp``.")
    return [each.op(each.tensor, each.peer, each.group, each.tag) for each in p2p_op_list if each.group is not None]
