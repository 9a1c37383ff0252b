"""Forward-mode automatic differentiation with dual tensors.

A dual tensor is a tensor with a tangent. Inside a level, results of operations on dual tensors are dual as well;
leaving the level removes all tangents.
"""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import NamedTuple

from ..base.exits import Exit
from ..base.modes import MODE, TRANSFORMS, change, using
from ..core.tensor import DUALS, Tensor
from ..declare.dispatch.tangents import tangent_of
from ..ops.forward_mode import fw_primal

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
        change(dual=1)
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
    if level is None:
        level = _current_level
    _check_last(level)
    _end_level()


def _check_last(level: int) -> None:
    if level != _current_level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    if level < 0:
        raise RuntimeError("Dual level must be a positive number.")


def _end_level() -> None:
    """Remove all tangents. May be interrupted, and called again."""
    global _current_level
    _current_level = -1
    change(dual=0)
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

    __exit__ = Exit(lambda self: _check_last(_current_level), lambda self, _: _end_level())


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
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor._shape)} while the given forward gradient is of size "
            f"{list(tangent._shape)}."
        )
    out = tensor.view_as(tensor)
    if MODE.get().forward:
        out._tangents = _laid_out_like(tangent, tensor)
    return out


def _laid_out_like(tangent: Tensor, primal: Tensor) -> Tensor:
    """Return the tangent with the memory layout of the primal, so that views of both agree; copied if necessary."""
    if not primal._spec.numpy:
        return tangent
    strides = zip(tangent.stride(), primal.stride(), primal._shape, strict=True)
    same = all(a == b or n == 1 for a, b, n in strides) and tangent.storage_offset() == primal.storage_offset()
    size = primal.untyped_storage().nbytes() // primal.element_size()
    if same and tangent.untyped_storage().nbytes() // tangent.element_size() == size:
        return tangent
    from ..ops.create.fill import zeros

    fresh: Tensor = zeros(size, dtype=tangent.dtype, device=tangent.device)
    return fresh.as_strided(primal.size(), primal.stride(), primal.storage_offset()).copy_(tangent)


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
    tangent = tangent_of(tensor) if MODE.get().forward else None
    with using(dual=0):
        return UnpackedDualTensor(fw_primal(tensor), tangent)


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
