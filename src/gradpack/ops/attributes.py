"""Attributes and predicates of tensors, most of them constant for dense ones on the CPU; old names."""

from __future__ import annotations

import warnings
from inspect import signature
from itertools import pairwise
from math import prod
from typing import Any

from ..base.callers import depth_of_user
from ..base.dtypes import dtype, float32
from ..base.memory_formats import memory_format
from ..core.legacy_constructors import legacy
from ..core.storage import UntypedStorage
from ..core.tensor import Tensor
from ..declare.generate.profiling import profiled
from ..declare.signature.shown import showing
from .inplace_functions import as_strided_, detach_, fill_, resize_as_, zero_  # noqa: F401 - FUNCTIONS names them
from .shape.memory_formats import is_laid_out

FUNCTIONS = (
    "get_device eig lstsq matrix_rank solve symeig is_same_size is_nonzero is_conj is_neg is_inference fill_ "
    "zero_ detach_ as_strided_ resize_as_"
)
METHODS = (
    "is_nonzero is_distributed storage storage_type const_data_ptr dim_order new crow_indices col_indices "
    "resize resize_as reinforce eig lstsq solve symeig dequantize record_stream module_load _is_laid_out ipu "
    "xpu"
)


def _always(answer: Any, doc: str) -> property:
    return property(lambda self: answer, doc=doc)


_NOT_THERE = "is_mps is_xpu is_xla is_ipu is_maia is_mtia is_vulkan is_mkldnn is_sparse_csr".split()
OPERATORS: dict[str, Any] = {
    **{name: _always(answer=False, doc="Whether the tensor is of such a kind: always False.") for name in _NOT_THERE}
}


def _method__is_laid_out(self: Tensor, memory_format: Any) -> bool:
    """Whether the elements lie in a memory format without gaps."""
    return is_laid_out(self._data, memory_format)


def get_device(input: Tensor) -> int:
    """The index of the device; -1 for the CPU.

    Example::

        >>> import gradpack as torch
        >>> torch.get_device(torch.ones(1))
        -1
    """
    return input.get_device()


def _method_is_nonzero(self: Tensor) -> bool:
    """Whether the only element is not zero.

    Raises:
        RuntimeError: if there is not exactly one.
    """
    return bool(self)


def _method_is_distributed(self: Tensor) -> bool:
    """Whether the tensor is distributed over processes: always False."""
    return False


class TypedStorage:
    """The storage of a tensor as elements of its dtype: torch's deprecated `TypedStorage`."""

    def __init__(self, tensor: Tensor) -> None:
        self._untyped = UntypedStorage(tensor)
        self._spec = tensor._spec
        self.dtype: dtype = tensor._spec.dtype

    @property
    def _flat(self) -> Any:
        return self._untyped._flat(self._spec)

    def is_shared(self) -> bool:
        """Whether the storage is in shared memory."""
        return self._untyped.is_shared()

    def share_memory_(self) -> TypedStorage:
        """Move the storage to shared memory: see `Tensor.share_memory_`."""
        self._untyped.share_memory_()
        return self

    def untyped(self) -> UntypedStorage:
        """The same storage as bytes."""
        return self._untyped

    def size(self) -> int:
        """The number of elements."""
        return int(self._flat.size)

    __len__ = size

    def nbytes(self) -> int:
        """The size in bytes."""
        return int(self._flat.nbytes)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._untyped.data_ptr()

    def tolist(self) -> Any:
        """All elements."""
        return self._flat.tolist()

    def __getitem__(self, index: Any) -> Any:
        return self._flat[index].tolist()

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedStorage) and self._untyped == other._untyped

    def __hash__(self) -> int:
        return hash(self._untyped)

    def __repr__(self) -> str:
        rows = "".join(f" {v}\n" for v in self.tolist())
        return f"{rows}[gradpack.storage.TypedStorage(dtype={self.dtype}, device=cpu) of size {len(self)}]"


def _method_storage(self: Tensor) -> TypedStorage:
    """The storage as a `TypedStorage`; deprecated, with a warning: use `untyped_storage`."""
    warnings.warn(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
        "class. To access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()",
        UserWarning,
        stacklevel=depth_of_user(),
    )
    return TypedStorage(self)


def _method_storage_type(self: Tensor) -> type:
    """The class of `storage()`."""
    return TypedStorage


def _method_const_data_ptr(self: Tensor) -> int:
    """The address of the first element."""
    return self.data_ptr()


def _method_dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from outermost to innermost in memory.

    Args:
        ambiguity_check: True raises if several orders describe the strides; a list of memory formats raises then,
            unless the tensor is in exactly one of them.

    Raises:
        RuntimeError: if the order is ambiguous.

    Example::

        >>> import gradpack as torch
        >>> torch.ones(2, 3).T.dim_order()
        (1, 0)
    """
    if self.is_sparse:
        raise AttributeError("a sparse tensor has no order of dimensions: use to_dense() first")
    strides = self.stride()
    ordered = tuple(sorted(range(self.ndim), key=lambda i: (-strides[i], i)))
    formats = [] if isinstance(ambiguity_check, bool) else ambiguity_check
    if not isinstance(formats, list) or not all(isinstance(f, memory_format) for f in formats):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    several = ambiguity_check is not False and (1 in self._shape or any(a == b for a, b in pairwise(strides)))
    if several and sum(self.is_contiguous(memory_format=f) for f in formats) != 1:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
        )
    return ordered


def _method_new(self: Tensor, *args: Any, size: Any = None, device: Any = None) -> Tensor:
    """A tensor of the same dtype, from a size or from data: the old form of `new_empty` and `new_tensor`."""
    if size is not None:
        args = tuple(size)
    if len(args) == 1 and isinstance(args[0], Tensor) and device is not None:
        raise RuntimeError(
            "Legacy tensor new of the form tensor.new(tensor, device=device) is not supported.  Use "
            "torch.as_tensor(...) instead."
        )
    if len(args) == 1 and isinstance(args[0], Tensor) and args[0]._spec.dtype is not self._spec.dtype:
        return args[0].detach().to(self._spec.dtype)
    return legacy(self._spec.dtype, args)


# -- attributes of sparse tensors --


def _sparse_only(name: str, layout: str) -> Any:
    def method(self: Tensor) -> Any:
        raise RuntimeError(f"{name} expected {layout} tensor layout but got Strided")

    method.__name__ = name
    method.__doc__ = "Raise: there are no tensors of compressed rows, only dense ones and such in coordinates."
    return method


_method_crow_indices = _sparse_only("crow_indices", "sparse row compressed")
_method_col_indices = _sparse_only("col_indices", "sparse row compressed")


def _method_dequantize(self: Tensor) -> Tensor:
    """The tensor as float32."""
    return self.to(float32)


# -- old names --


def _method_resize(self: Tensor, *sizes: Any) -> Tensor:
    """The tensor in another shape of as many elements: an old form of `view`, with a warning."""
    warnings.warn("non-inplace resize is deprecated", UserWarning, stacklevel=depth_of_user())
    size = tuple(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    if self.numel() != prod(size):
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, size))} ({prod(size)} elements in total), but the given "
            f"tensor has a size of {'x'.join(map(str, self.shape))} ({self.numel()} elements). autograd's resize can "
            "only change the shape of a given tensor, while preserving the number of elements. "
        )
    return self.reshape(size)


def _method_resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """The tensor in the shape of another, of as many elements: an old form of `view_as`, with a warning."""
    warnings.warn("non-inplace resize_as is deprecated", UserWarning, stacklevel=depth_of_user())
    return self.reshape(tensor.shape)


def _method_reinforce(self: Tensor, reward: Any) -> Any:
    """Raise, as in torch: the method was removed. `distributions` has log-probabilities to differentiate instead.

    Args:
        reward: of no effect.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(
        "reinforce() was removed.\nUse torch.distributions instead.\nSee "
        "https://pytorch.org/docs/main/distributions.html\n\nInstead of:\n\nprobs = policy_network(state)\naction = "
        "probs.multinomial()\nnext_state, reward = env.step(action)\naction.reinforce(reward)\naction.backward()\n"
    )


_REMOVED = {
    "eig": "`torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble`.",
    "lstsq": "`torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`, whose arguments are reversed.",
    "matrix_rank": "Please use the `torch.linalg.matrix_rank` function instead.",
    "solve": "`torch.solve` is deprecated in favor of `torch.linalg.solve`, whose arguments are reversed.",
    "symeig": "Please use `torch.linalg.eigh` instead, which reads the lower triangle.",
}


_TAKEN: dict[str, Any] = {
    "eig": lambda self, eigenvectors=False, *, e=None, v=None: None,
    "lstsq": lambda input, A, *, out=None: None,
    "matrix_rank": lambda input, tol=None, symmetric=False, *, out=None: None,
    "solve": lambda input, A, *, out=None: None,
    "symeig": lambda input, eigenvectors=False, upper=True, *, out=None: None,
}


def _removed(name: str) -> Any:
    @showing(_TAKEN[name])
    def function(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"This function was deprecated since version 1.9 and is now removed. {_REMOVED[name]}")

    function.__name__ = name
    function.__doc__ = (
        f"Refused, as in torch: it was removed. {_REMOVED[name]}\n\n"
        f"Args:\n    {', '.join(signature(_TAKEN[name]).parameters)}: not looked at.\n\n"
        "Raises:\n    RuntimeError: always.\n\n"
        "Example::\n\n"
        "    >>> import gradpack as torch\n"
        f"    >>> torch.{name}(torch.ones(2, 2))\n"
        "    Traceback (most recent call last):\n"
        "    RuntimeError: This function was deprecated since version 1.9 and is now removed..."
    )
    return function


eig, lstsq, matrix_rank, solve, symeig = (_removed(n) for n in ("eig", "lstsq", "matrix_rank", "solve", "symeig"))


def _method_record_stream(self: Tensor, s: Any) -> None:
    """Raise: there are no streams on the CPU."""
    raise NotImplementedError("record_stream(): tensors on the CPU have no streams")


def _method_module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """Return the tensor that `load_state_dict` puts in the place of this one. Detached.

    Args:
        other: the tensor of the state dict.
        assign: return `other` itself; otherwise this tensor, with the elements of `other` copied into it.
    """
    return other.detach() if assign else self.copy_(other).detach()


def _elsewhere(kind: str) -> Any:
    def method(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
        place = kind if device is None else f"{kind}:{device}" if isinstance(device, int) else device
        return self.to(place, memory_format=memory_format)

    method.__name__ = kind
    method.__doc__ = f"The tensor on a device of kind {kind!r}, where there is one."
    return method


_method_ipu, _method_xpu = _elsewhere("ipu"), _elsewhere("xpu")


# -- questions about one tensor as a whole --


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape.

    Example::

        >>> import gradpack as torch
        >>> torch.is_same_size(torch.ones(2), torch.zeros(2))
        True
    """
    return input.is_same_size(other)


@profiled
def is_nonzero(input: Tensor) -> bool:
    """Whether a tensor of one element is not zero.

    Raises:
        RuntimeError: if there is not exactly one element.

    Example::

        >>> import gradpack as torch
        >>> torch.is_nonzero(torch.tensor([0.0]))
        False
    """
    return bool(input)


def is_conj(input: Tensor) -> bool:
    """Whether it is a lazily conjugated view: never, conjugates are computed.

    Example::

        >>> import gradpack as torch
        >>> torch.is_conj(torch.tensor([1j]).conj())
        False
    """
    return input.is_conj()


def is_neg(input: Tensor) -> bool:
    """Whether it is a lazily negated view: never.

    Example::

        >>> import gradpack as torch
        >>> torch.is_neg(torch.tensor([1j]))
        False
    """
    return input.is_neg()


def is_inference(input: Tensor) -> bool:
    """Whether it was made in inference mode.

    Example::

        >>> import gradpack as torch
        >>> torch.is_inference(torch.ones(1))
        False
    """
    return input.is_inference()
