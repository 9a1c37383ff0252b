"""A model of which every rank has a copy: each computes on its part of a batch, and gradients are averaged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Any

from ... import distributed as dist
from ...base.exits import block
from ...base.modes import MODE, using
from ...base.tree import tree_leaves
from ...core.tensor import Tensor
from ...declare.signature.constructors import explain_constructors
from ...ops.shape.join import cat
from ..modules.module import Module
from ..parameter import UninitializedParameter
from ._join import Join, total
from ._reducer import LARGE, Reducer

__all__ = ["DistributedDataParallel"]

_REFUSED = (  # arguments of torch's for which there is nothing here
    "delay_all_reduce_named_params param_to_hook_all_reduce mixed_precision device_mesh skip_all_reduce_unused_params "
    "bucket_cap_mb_list batched_grad_copy forward_sync_buffers"
).split()


class DistributedDataParallel(Module):
    """A module on every rank: parameters begin as those of rank 0, and `backward` averages gradients over all ranks.

    Every rank calls it on its part of the batch; the gradients are those of the mean of the losses of all ranks.

    Args:
        module: the module, which is at `module`.
        broadcast_buffers: copy the buffers of rank 0 to the others before each forward pass.
        init_sync: compare the parameters of the ranks, and copy those of rank 0, now.
        process_group: the ranks; all of them unless it is given.
        bucket_cap_mb: the size of the buckets in which gradients are sent: 25 MiB unless it is given.
        find_unused_parameters: parameters may have no part in the outputs of some rank. They are looked for in each
            forward pass.
        gradient_as_bucket_view: gradients share the memory of the buckets.
        static_graph: here as `find_unused_parameters`.

    Raises:
        RuntimeError: if no parameter requires a gradient, or if the models of the ranks differ.
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0,
        broadcast_buffers: bool | None = None, init_sync: bool = True, process_group: Any = None,
        bucket_cap_mb: float | None = None, find_unused_parameters: bool = False, check_reduction: bool = False,
        gradient_as_bucket_view: bool = False, static_graph: bool = False, delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None, mixed_precision: Any = None, device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False, bucket_cap_mb_list: list[int] | None = None,
        batched_grad_copy: bool = False, forward_sync_buffers: bool | None = None,
    ) -> None:  # fmt: skip
        given = locals()
        refused = [n for n in _REFUSED if given[n] is not None and given[n] is not False]
        super().__init__()
        if refused:
            raise TypeError(f"DistributedDataParallel has no argument {', '.join(refused)} in gradpack: leave it out")
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        dist.get_rank(process_group)  # there has to be a group
        group: Any = dist.group.WORLD if process_group is None else process_group
        ignored = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        if any(isinstance(p, UninitializedParameter) for p in module.parameters()):
            raise RuntimeError(
                "Modules with uninitialized parameters can't be used with `DistributedDataParallel`. Run a dummy "
                "forward pass to correctly initialize the modules"
            )
        if not any(p.requires_grad and n not in ignored for n, p in module.named_parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
                "gradient."
            )
        self.device = next(module.parameters()).device
        if self.device.type == "cpu" and device_ids:
            raise ValueError(
                f"DistributedDataParallel device_ids only work with GPU modules, but got {device_ids} for the CPU"
            )
        self.module, self.process_group, self.dim = module, group, dim
        self.device_ids, self.output_device, self.parameters_to_ignore = device_ids, output_device, ignored
        self.broadcast_buffers, self.static_graph = broadcast_buffers is not False, static_graph
        self.find_unused_parameters, self.gradient_as_bucket_view = find_unused_parameters, gradient_as_bucket_view
        self.bucket_bytes_cap = int((25 if bucket_cap_mb is None else bucket_cap_mb) * 2**20)
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        if init_sync:
            self._compare()
            with using(grad=False):
                _copy_from(0, group, [*self._named(module.named_parameters()), *self._buffers_sent()])
        self._make_reducer()

    def _make_reducer(self) -> None:
        named = self.module.named_parameters()
        names = {p: n for n, p in named if p.requires_grad and n not in self.parameters_to_ignore}
        find = self.find_unused_parameters or self.static_graph
        self.reducer = Reducer(self.process_group, names, self.bucket_bytes_cap, find, self.gradient_as_bucket_view)

    def __getstate__(self) -> dict[str, Any]:
        if self.process_group is not dist.group.WORLD:
            raise RuntimeError(
                "DDP Pickling/Unpickling are only supported when using DDP with the default process group"
            )
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("process_group", "reducer", "joining")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        dist.get_rank()  # there has to be a group
        self.process_group = dist.group.WORLD
        self._make_reducer()

    def _named(self, named: Iterable[tuple[str, Any]]) -> list[Any]:
        return [value for name, value in named if name not in self.parameters_to_ignore]

    def _buffers_sent(self) -> list[Tensor]:
        return self._named(self.module.named_buffers()) if self.broadcast_buffers else []

    def _compare(self) -> None:
        """Raise unless the models of all ranks have the same parameters."""
        own = [(n, list(p.shape), str(p.dtype), p.requires_grad) for n, p in self.module.named_parameters()]
        found: list[Any] = [None] * self.process_group.size()
        dist.all_gather_object(found, own, self.process_group)
        for rank, theirs in enumerate(found):
            if theirs != found[0]:
                differs = next(pair for pair in zip_longest(found[0], theirs) if pair[0] != pair[1])
                raise RuntimeError(
                    f"DDP expects same model across all ranks, but rank 0 has the parameter {differs[0]}, and rank "
                    f"{rank} has {differs[1]} (name, sizes, dtype, requires_grad)"
                )

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module."""
        training = MODE.get().grad and self.require_backward_grad_sync
        self.reducer.sync = self.require_backward_grad_sync
        if self.joining is None:
            self._sync_buffers()
        else:
            self.joining.step(training)
        output = self.module(*inputs, **kwargs)
        if training:
            self.reducer.prepare(leaf for leaf in tree_leaves(output) if isinstance(leaf, Tensor))
        self.require_forward_param_sync = training
        return output

    def will_sync_module_buffers(self) -> bool:
        """Return whether the next forward pass begins with a broadcast of the buffers."""
        return self.require_forward_param_sync and self.broadcast_buffers and bool(self._buffers_sent())

    def _sync_buffers(self, rank: int | None = None) -> None:
        """Copy the buffers of rank 0; or of the last of the ranks that are not -1."""
        if self.will_sync_module_buffers():
            first = 0 if rank is None else total(self.process_group, rank, dist.ReduceOp.MAX)
            with using(grad=False):
                _copy_from(first, self.process_group, self._buffers_sent())

    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Join:
        """Context manager: ranks with fewer batches than others take part in their steps, with gradients of zero.

        At the end all have the parameters of a rank that was among the last.

        Args:
            divide_by_initial_world_size: divide gradients by the number of all ranks; by that of the ranks that have
                batches left if False.
            enable: whether to do anything.
            throw_on_early_termination: raise on all ranks as soon as one has no batches left.

        Example::

            with ddp.join():
                for x, y in batches:
                    loss_of(ddp(x), y).backward()
                    optimizer.step()
        """
        return Join(self, divide_by_initial_world_size, enable, throw_on_early_termination)

    joining: Join | None = None  # the context that is open

    def shadow(self) -> None:
        """Take part in the calls of one step of other ranks."""
        self._sync_buffers(-1)
        self.require_forward_param_sync = bool(total(self.process_group, 0))
        if self.require_forward_param_sync:
            self.reducer.shadow()

    def end_together(self, last: int) -> None:
        """Take over the parameters and buffers of a rank."""
        with using(grad=False):
            state = *self._named(self.module.named_parameters()), *self._named(self.module.named_buffers())
            _copy_from(last, self.process_group, list(state))

    @block
    def no_sync(self) -> Iterator[None]:
        """Context manager: gradients of backward passes in it are accumulated here, and not averaged.

        The first pass after it averages all that has been accumulated. The forward pass has to be in it, too.

        Example::

            with ddp.no_sync():
                loss_of(ddp(first)).backward()
            loss_of(ddp(second)).backward()
        """
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            setattr(self, "require_backward_grad_sync", before)  # noqa: B010 - one call, as `block` needs

    def register_comm_hook(self, state: Any, hook: Callable[[Any, dist.GradBucket], Any]) -> None:
        """Let a function reduce the buckets: `hook(state, bucket)` returns a future of the tensor for its gradients.

        `torch.distributed.algorithms.ddp_comm_hooks.default_hooks` has some that send half as many bytes.

        Raises:
            TypeError: for what cannot be called.
            RuntimeError: if there is a hook already.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self.reducer.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.reducer.hook = (state, hook)
        self.reducer.arrange()

    def _set_static_graph(self) -> None:
        """Look for unused parameters, as with `static_graph=True`."""
        self.static_graph = self.reducer.find_unused = True
        self.reducer.arrange()

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(
        module: Module, params_and_buffers_to_ignore: Iterable[str]
    ) -> None:
        """Leave parameters and buffers of a module alone, by their names, once it is given to this class."""
        object.__setattr__(module, "_ddp_params_and_buffers_to_ignore", params_and_buffers_to_ignore)


def _copy_from(rank: int, group: dist.ProcessGroup, tensors: list[Tensor]) -> None:
    """Copy tensors of a rank of the group to the others; small ones of one dtype together."""
    together: dict[Any, list[Tensor]] = {}
    for t in tensors:
        if t.numel() * t.element_size() >= LARGE:
            dist.broadcast(t, group=group, group_src=rank)
        else:
            together.setdefault((t.dtype, t.device), []).append(t)
    for small in together.values():
        flat = cat([t.detach().reshape(-1) for t in small])
        dist.broadcast(flat, group=group, group_src=rank)
        if group.rank() != rank:
            for t, part in zip(small, flat.split([t.numel() for t in small]), strict=True):
                t.copy_(part.view(t.shape))


explain_constructors([*globals().values()])
