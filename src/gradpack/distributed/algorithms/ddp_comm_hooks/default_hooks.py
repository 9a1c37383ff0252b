"""How gradients are averaged over ranks: as they are, or in half as many bytes.

A hook gets a state and a `GradBucket`, and returns a future of the tensor that takes the place of its buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import distributed as dist
from ....base.dtypes import bfloat16, dtype, float16
from ....base.futures import Future
from ....core.tensor import Tensor

__all__ = ["allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook"]
__all__ += ["fp16_compress_wrapper"]


def _average(group: Any, tensor: Tensor) -> Future[Tensor]:
    group = dist.group.WORLD if group is None else group
    tensor.div_(group.size())  # first, so that the sum does not overflow
    work = dist.all_reduce(tensor, group=group, async_op=True)
    assert work is not None
    return work.get_future().then(lambda done: done.value()[0])


def allreduce_hook(process_group: Any, bucket: dist.GradBucket) -> Future[Tensor]:
    """Return the average of a bucket over all ranks."""
    return _average(process_group, bucket.buffer())


def _compressed(to: dtype, group: Any, bucket: dist.GradBucket) -> Future[Tensor]:
    buffer = bucket.buffer()
    return _average(group, buffer.to(to)).then(lambda done: buffer.copy_(done.value()))


def fp16_compress_hook(process_group: Any, bucket: dist.GradBucket) -> Future[Tensor]:
    """Return the average of a bucket over all ranks, sent and added as float16."""
    return _compressed(float16, process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: dist.GradBucket) -> Future[Tensor]:
    """Return the average of a bucket over all ranks, sent and added as bfloat16."""
    return _compressed(bfloat16, process_group, bucket)


def _wrapper(to: dtype, hook: Callable[..., Future[Tensor]]) -> Callable[..., Future[Tensor]]:
    def compressed(state: Any, bucket: dist.GradBucket) -> Future[Tensor]:
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(to))
        return hook(state, bucket).then(lambda done: buffer.copy_(done.value()))

    return compressed


def fp16_compress_wrapper(hook: Callable[..., Future[Tensor]]) -> Callable[..., Future[Tensor]]:
    """Return a hook that hands a bucket to another hook as float16, and gives back its own dtype."""
    return _wrapper(float16, hook)


def bf16_compress_wrapper(hook: Callable[..., Future[Tensor]]) -> Callable[..., Future[Tensor]]:
    """Return a hook that hands a bucket to another hook as bfloat16, and gives back its own dtype."""
    return _wrapper(bfloat16, hook)
