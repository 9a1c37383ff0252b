"""Forward-mode automatic differentiation with dual tensors.

A dual tensor is a tensor with a tangent. Inside a level, results of operations on dual tensors are dual as well;
leaving the level removes all tangents.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any, NamedTuple

from ..base import late
from ..base.dtypes import FLOATING
from ..base.exits import Exit
from ..base.modes import MODE, TRANSFORMS, Transform, change, using, without_dual
from ..base.tree import tree_map
from ..core.tensor import DUALS, Tensor
from ..declare.batching.batch_tensor import all_examples, batched, bottom, is_batched, lifted, lifted_like
from ..declare.dispatch.tangents import alias_of, tangent_of
from ..ops.shape.strided import fw_primal

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

_current_level = -1


class UnpackedDualTensor(NamedTuple):
    """The result of `unpack_dual`: the primal, and the tangent or None."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Enter a dual level, inside of which tensors can have tangents. Return its number, 0.

    Raises:
        RuntimeError: inside a level.
    """
    global _current_level
    if _current_level >= 0:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    mode = MODE.get()
    try:
        _current_level = 0
        MODE.set(mode.replace(dual=1))
    except BaseException:  # an interrupt
        MODE.set(mode)
        _current_level = -1
        raise
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Exit the dual level; removes the tangents of all tensors.

    Raises:
        RuntimeError: outside a level, or if `level` is not the one that was entered last.
    """
    _check_last(level=level)
    _end_level()


def _check_last(_: object = None, level: int | None = None) -> None:
    if level is None:
        level = _current_level
    if level != _current_level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    if level < 0:
        raise RuntimeError("Dual level must be a positive number.")


def _end_level(*_: object) -> None:
    """Remove all tangents. May be interrupted, and called again."""
    global _current_level
    _current_level = -1
    mode = MODE.get()
    if mode.dual:
        MODE.set(mode.replace(dual=0))
    for ref in list(DUALS.values()):
        tensor = ref()
        if tensor is not None:
            tensor._tangents = None


class dual_level(ContextDecorator):  # noqa: N801 - torch's name
    """Context manager, or decorator, for a dual level, in which tensors can have tangents.

    Example::

        >>> import gradpack as torch
        >>> import gradpack.autograd.forward_ad as fwAD
        >>> x = torch.tensor([1.0, 2.0])
        >>> with fwAD.dual_level():
        ...     y = fwAD.make_dual(x, torch.ones(2)) ** 2
        ...     fwAD.unpack_dual(y).tangent
        tensor([2., 4.])
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    __exit__ = Exit(_check_last, _end_level)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Return a view of `tensor` with the tangent `tangent`. Differentiable in reverse mode.

    Args:
        tensor: the primal, floating point or complex.
        tangent: of the same shape.
        level: the current one.

    Raises:
        RuntimeError: outside a level, for another shape, and if one of them has a tangent already.
        ValueError: for integers.

    Example::

        >>> import gradpack as torch
        >>> import gradpack.autograd.forward_ad as fwAD
        >>> with fwAD.dual_level():
        ...     fwAD.make_dual(torch.ones(2), torch.zeros(2))
        tensor([1., 1.], tangent=tensor([0., 0.]))
    """
    if level is None:
        level = _current_level
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for name, value in (("primal", tensor), ("tangent", tangent)):
        if not (value.is_floating_point() or value.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {value.dtype}")
    if level != 0:
        raise RuntimeError("Invalid level given to _make_dual")
    if tangent_of(tensor) is not None:
        raise RuntimeError(
            f"Making a dual Tensor based on a Tensor that already has a forward gradient at the same level {level} is "
            "not supported."
        )
    if tangent._tangents is not None:
        raise RuntimeError(
            f"Setting a forward grad that itself has a forward gradient at the same level{level} is not supported."
        )
    if tangent._shape != tensor._shape:
        raise wrong_size(tensor, tangent)
    mode = MODE.get()
    for nr, batch in reversed(tuple(enumerate(mode.levels))):
        if batch.has(tensor) or batch.has(tangent):  # under `vmap`: tangents belong to the tensor of all examples
            with using(levels=mode.levels[:nr]):
                primal = all_examples(tensor, batch)
                primal = primal if batch.has(tensor) else primal.contiguous()
                return batched(make_dual(primal, all_examples(tangent, batch)), batch)
    try:
        MODE.set(without_dual(mode))  # the tensor has no tangent
        out = tensor.view_as(tensor)
    finally:
        MODE.set(mode)
    if mode.forward:
        out._tangents = _laid_out_like(tangent, tensor)
    return out


def wrong_size(tensor: Tensor, tangent: Tensor) -> RuntimeError:
    """Return the error for a tangent of another shape than that of the tensor."""
    return RuntimeError(
        "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
        f"supported. Tensor is of size {list(tensor._shape)} while the given forward gradient is of size "
        f"{list(tangent._shape)}."
    )


def _laid_out_like(tangent: Tensor, primal: Tensor) -> Tensor:
    """Return the tangent with the memory layout of the primal, so that views of both agree; copied if necessary."""
    if not primal._spec.numpy:
        return tangent
    a, b = tangent._data, primal._data
    if tangent._spec.numpy and a.base is None and b.base is None and a.flags.c_contiguous and b.flags.c_contiguous:
        return tangent
    wanted = _layout(primal)
    if _layout(tangent) == wanted:
        return tangent
    from ..ops.create.fill import zeros

    fresh: Tensor = zeros(wanted[2], dtype=tangent.dtype, device=tangent.device)
    return fresh.as_strided(primal.size(), primal.stride(), primal.storage_offset()).copy_(tangent)


def _layout(tensor: Tensor) -> tuple[list[int], int, int]:
    """The strides of dimensions of more than one element, the offset, and the elements of the storage."""
    strides = [step for step, size in zip(tensor.stride(), tensor._shape, strict=True) if size != 1]
    return strides, tensor.storage_offset(), tensor.untyped_storage().nbytes() // tensor.element_size()


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Return the primal, as a view, and the tangent: None if there is none.

    Example::

        >>> import gradpack as torch
        >>> import gradpack.autograd.forward_ad as fwAD
        >>> fwAD.unpack_dual(torch.ones(1))
        UnpackedDualTensor(primal=tensor([1.]), tangent=None)
    """
    if level is None:
        level = _current_level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type(tensor).__name__}")
    if level != 0:
        raise RuntimeError("Invalid level given to _fw_primal")
    if is_batched(tensor):
        batch, levels = tensor._data.level, MODE.get().levels
        with using(levels=levels[: levels.index(batch)]):
            primal, tangent = unpack_dual(tensor._data.value)
        return UnpackedDualTensor(batched(primal, batch), None if tangent is None else batched(tangent, batch))
    mode = MODE.get()
    tangent = tangent_of(tensor) if mode.forward else None
    try:
        MODE.set(without_dual(mode))
        return UnpackedDualTensor(fw_primal(tensor), tangent)
    finally:
        MODE.set(mode)


class _set_fwd_grad_enabled:  # noqa: N801 - torch's name
    """Set whether tangents are propagated: at once as a function, or for a block."""

    def __init__(self, mode: bool) -> None:
        around = TRANSFORMS.get()
        changes = {"tangents": mode}
        if around and around[-1].pushes and not around[-1].forward and not mode:
            changes["grad"] = False
        before = MODE.get()
        try:
            self.prev = change(**changes)
        except BaseException:  # an interrupt
            MODE.set(before)
            raise

    def __enter__(self) -> None:
        pass

    __exit__ = Exit(lambda self: self.prev, lambda self, prev: change(**prev))


def _is_fwd_grad_enabled() -> bool:
    """Whether tangents are propagated."""
    mode = MODE.get()
    return mode.tangents and not mode.inference


def push_forward(
    call: Callable[[list[Any]], Any],
    flat: list[Tensor],
    pushed: list[Tensor],
    strict: bool = False,
    inner: bool = False,
) -> tuple[Any, Any, Any]:
    """Return the values, the tangents and the auxiliary values of `call`, which returns a pair of nested outputs.

    Tangents belong to tensors with all batch dimensions, so tensors that are not batched are expanded.
    """
    for x in flat:
        if x._spec.dtype.category < FLOATING:
            raise ValueError(f"Expected primal to be floating point or complex, but got: {x.dtype}")
    mode = MODE.get()
    levels = mode.levels
    duals = []
    for x, t in zip(flat, pushed, strict=True):
        made = alias_of(bottom(x, levels) if levels else x)
        tangent = bottom(t, levels) if levels else t
        made._tangents = tangent if tangent._spec is made._spec else tangent.to(made.dtype)
        duals.append(made)
    transforms = TRANSFORMS.get()
    try:
        MODE.set(mode.replace(dual=1, tangents=True, inference=False))
        TRANSFORMS.set((*transforms, Transform(call, forward=True, inner=inner)))
        output, aux = call([lifted_like(d, x, levels) for d, x in zip(duals, flat, strict=True)])
    finally:
        try:
            TRANSFORMS.set(transforms)
        finally:
            MODE.set(mode)
    found = _values(output, levels), _tangents(output, levels, strict), _values(aux, levels)
    for d in duals:
        d._tangents = None
    return found


def _values(tree: Any, levels: Any) -> Any:
    def value(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        whole = bottom(x, levels) if levels else x
        if whole._tangents is None and whole._view is None:
            return x
        bare = alias_of(whole) if tangent_of(whole) is not None else whole
        return lifted_like(bare, x, levels)

    return tree_map(value, tree)


def _tangents(tree: Any, levels: Any, strict: bool) -> Any:
    def tangent(x: Tensor) -> Tensor:
        found = tangent_of(bottom(x, levels) if levels else x)
        if found is None:
            if strict:
                raise RuntimeError(
                    "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                    "allowed with strict=True."
                )
            return late.zeros_like(_values(x, levels).detach())
        return lifted(found, levels)

    return tree_map(tangent, tree)
