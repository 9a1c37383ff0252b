"""Gradients that are averaged over ranks, in buckets, while backward still computes others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from math import inf
from typing import Any
from weakref import ref

from ... import distributed as dist
from ...autograd.backward_pass import queue_callback
from ...base import late
from ...base.modes import using
from ...core.tensor import Tensor
from ...graph.node import AccumulateGrad, OutputSlot, reachable

_UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that "
    "your module has parameters that were not used in producing loss. You can enable unused parameter detection by "
    "passing the keyword argument `find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by "
    "making sure all `forward` function outputs participate in calculating loss. Parameters which did not receive grad "
    "for rank {rank}: {names}"
)

_FIRST = 1 << 20  # bytes of the first bucket, which is sent while the rest is computed
LARGE = 1 << 20  # bytes from which a tensor is sent by itself


class Bucket:
    """Some parameters, and how many of their gradients are still to come.

    Attributes:
        flat: the gradients in one tensor, while it is reduced.
        parts: where in it those are that were copied into it.
    """

    def __init__(self, index: int, parameters: list[Tensor]) -> None:
        self.index, self.parameters, self.missing = index, parameters, len(parameters)
        self.flat: Any = None
        self.parts: list[Tensor] = []

    @cached_property
    def room(self) -> tuple[Tensor, list[Tensor]]:
        """A tensor that has a place for each gradient, and the places."""
        flat = self.parameters[0].detach().new_zeros(sum(p.numel() for p in self.parameters))
        return flat, dist.GradBucket(self.index, flat, self.parameters, False).gradients()


def buckets_of(parameters: Iterable[Tensor], first: float, rest: float, alone: float = inf) -> list[Bucket]:
    """Divide parameters into buckets of one dtype and device, the last parameter first.

    Args:
        first, rest: the bytes from which a bucket is full; backward fills the first bucket first.
        alone: the bytes from which a parameter has a bucket of its own.
    """
    open_: dict[Any, list[Tensor]] = {}
    full: list[list[Tensor]] = []
    for p in reversed(list(parameters)):
        large = p.numel() * p.element_size() >= alone
        kind = (p.dtype, p.device, large)
        held = open_.setdefault(kind, [])
        held.append(p)
        if large or sum(q.numel() * q.element_size() for q in held) >= (rest if full else first):
            full.append(open_.pop(kind))
    return [Bucket(i, held) for i, held in enumerate([*full, *open_.values()])]


class Reducer:
    """Averages gradients that backward accumulates.

    A large gradient is averaged where it is. Small ones, and all if there is a communication hook or if some may be
    missing, are copied into buckets.

    Attributes:
        sync: whether it does so in the next backward pass.
        hook: a communication hook and its state; None to average.
        divisor: what the sum of gradients is divided by: the number of ranks.

    Args:
        names: the names of the parameters.
        cap: the bytes from which a bucket is full.
        find_unused: whether parameters may get no gradient.
        as_view: whether gradients become views of the buckets.
    """

    def __init__(
        self, group: dist.ProcessGroup, names: dict[Any, str], cap: float, find_unused: bool, as_view: bool
    ) -> None:
        self.group, self.names, self._cap = group, names, cap
        self.find_unused, self.as_view = find_unused, as_view
        self.sync, self.divisor = True, group.size()
        self.hook: tuple[Any, Callable[[Any, dist.GradBucket], Any]] | None = None
        self._unused: list[Tensor] = []
        self.arrange()
        this = ref(self)
        for parameter in names:
            parameter.register_post_accumulate_grad_hook(lambda p: None if (own := this()) is None else own._arrived(p))

    def arrange(self) -> None:
        """Divide the parameters into buckets."""
        self.in_place = self.hook is None and not self.find_unused
        self.buckets = buckets_of(self.names, min(_FIRST, self._cap), self._cap, LARGE if self.in_place else inf)
        self._places = {id(p): (b, i) for b in self.buckets for i, p in enumerate(b.parameters)}
        self._begin()

    def _begin(self) -> None:
        self._there: set[int] = set()
        self._used: set[int] = set()
        self._running: list[Any] = []
        for bucket in self.buckets:
            bucket.missing, bucket.flat, bucket.parts = len(bucket.parameters), None, []

    def prepare(self, outputs: Iterable[Tensor]) -> None:
        """Expect a backward pass from the outputs of the model.

        Raises:
            RuntimeError: if the last one has not reached all parameters.
        """
        if self._there:
            missing = [self.names[p] for b in self.buckets for p in b.parameters if id(p) not in self._there]
            raise RuntimeError(_UNFINISHED.format(rank=self.group.rank(), names=", ".join(missing)))
        if self.find_unused:
            roots = [t._edge for t in outputs if t._edge is not None]
            nodes = reachable([e.parent if isinstance(e, OutputSlot) else e for e in roots])
            leaves = {id(n.tensor()) for n in nodes if isinstance(n, AccumulateGrad)}
            self._unused = [p for b in self.buckets for p in b.parameters if id(p) not in leaves]

    def _arrived(self, parameter: Tensor) -> None:
        """Take over a gradient that is accumulated. Called by backward."""
        if not self.sync:
            return
        with using(grad=False):
            if not self._there:
                queue_callback(self._finish)
                for unused in self._unused:
                    self._put(unused)
            self._used.add(id(parameter))
            self._put(parameter)

    def _put(self, parameter: Tensor) -> None:
        """Copy a gradient into its bucket, and reduce the buckets that are full, in order."""
        bucket, i = self._places[id(parameter)]
        if id(parameter) in self._there:
            raise RuntimeError(
                f"Expected to mark a variable ready only once. The gradient of {self.names[parameter]!r} has come "
                "twice in one backward pass, as it does from reentrant checkpoints: use use_reentrant=False"
            )
        self._there.add(id(parameter))
        grad = parameter.grad
        if self.in_place and len(bucket.parameters) == 1 and grad is not None and _is_plain(grad):
            bucket.flat = grad.view(-1)
        else:
            bucket.flat, bucket.parts = bucket.room
            bucket.parts[i].zero_() if grad is None else bucket.parts[i].copy_(grad.to_dense())
        bucket.missing -= 1
        while len(self._running) < len(self.buckets) and not self.buckets[len(self._running)].missing:
            self._reduce(self.buckets[len(self._running)])

    def shadow(self) -> None:
        """Take part in the reductions of a backward pass of other ranks, with zeros."""
        with using(grad=False):
            for bucket in self.buckets:
                bucket.flat = late.zeros_like(late.cat([p.view(-1) for p in bucket.parameters]))
                self._reduce(bucket)
            for running in filter(None, self._running):
                running.wait()
            if self.find_unused:
                self._used_anywhere()
            self._begin()

    def _reduce(self, bucket: Bucket) -> None:
        last = bucket.index == len(self.buckets) - 1
        if self.hook is not None:
            state, function = self.hook
            given = dist.GradBucket(bucket.index, bucket.flat, bucket.parameters, last)
            self._running.append(function(state, given))
        else:  # the last one has nothing to wait for it but this thread
            if self.divisor != 1:
                bucket.flat.mul_(1 / self.divisor)
            self._running.append(dist.all_reduce(bucket.flat, group=self.group, async_op=not last))

    def _finish(self) -> None:
        """Wait for the averages, and make them the gradients. Called at the end of a backward pass."""
        if len(self._running) < len(self.buckets):
            return  # `prepare` says so
        with using(grad=False):
            used = self._used_anywhere() if self.find_unused else None
            for bucket, running in zip(self.buckets, self._running, strict=True):
                result = None if running is None else running.wait()
                if isinstance(result, Tensor) and result is not bucket.flat:
                    bucket.flat.copy_(result.view_as(bucket.flat))
                for parameter, part in zip(bucket.parameters, bucket.parts, strict=False):
                    if used is None or used[id(parameter)]:
                        self._give(parameter, part)
            self._unused = []
            self._begin()

    def _give(self, parameter: Tensor, part: Tensor) -> None:
        held = parameter.grad
        if held is not None and held.is_sparse:
            parameter.grad = part.to_sparse(held.sparse_dim())
        elif self.as_view:
            parameter.grad = part
        else:
            parameter.grad = part.clone() if held is None else held.copy_(part)

    def _used_anywhere(self) -> dict[int, bool]:
        """Whether each parameter has got a gradient on some rank. Others keep the one that they have."""
        keys = list(self._places)
        flags = next(iter(self.names)).detach().new_tensor([key in self._used for key in keys])
        dist.all_reduce(flags, dist.ReduceOp.MAX, self.group)
        return {key: bool(flag) for key, flag in zip(keys, flags.tolist(), strict=True)}


def _is_plain(grad: Tensor) -> bool:
    return not grad.is_sparse and not grad.requires_grad and grad.is_contiguous()
