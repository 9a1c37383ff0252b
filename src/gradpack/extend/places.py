"""dtypes, devices and array libraries from outside."""

from __future__ import annotations

from typing import Any

from ..backends import Backend, register_backend
from ..backends.base import forget_backend, place_backend, unplace_backend
from ..backends.numpy import hold, let_go
from ..base import devices, dtypes
from ..base.dtypes import dtype as DType
from . import added


def dtype(name: str, native: Any, *, category: str = "floating", low: bool | None = None, signed: bool = True) -> DType:
    """Add a dtype: the object that tensors will have as theirs, which is returned and is `gradpack.<name>`.

    Args:
        name: its name.
        native: the NumPy dtype that holds it, such as `ml_dtypes.float8_e3m4`.
        category: "bool", "integral", "floating" or "complex".
        low: whether operations compute in float32 and round once (default: floating ones of fewer than four bytes).
        signed: whether it has negative values.

    Results of two dtypes follow the rule for all: the higher category wins, then the larger one; two floating ones
    of one size give float32.

    Raises:
        ValueError: if the name is taken, or the NumPy dtype has another dtype already.

    Example::

        >>> import ml_dtypes, gradpack as torch
        >>> from gradpack import extend
        >>> small = extend.dtype("float8_e3m4", ml_dtypes.float8_e3m4)
        >>> torch.tensor([1.0, 1.1], dtype=small) * 3
        tensor([3.0000, 3.3750], dtype=gradpack.float8_e3m4)
        >>> extend.remove("float8_e3m4")
    """
    import numpy as np

    import gradpack

    categories = ("bool", "integral", "floating", "complex")
    if category not in categories:
        raise ValueError(f"extend.dtype(): category must be one of {', '.join(categories)}, not {category!r}")
    if name in dtypes.DTYPES or name in vars(gradpack):
        added.refuse("dtype", name, "gradpack")
    kind = np.dtype(native)
    floating = category == "floating"
    made = DType(
        name, kind.itemsize, categories.index(category), signed, kind.itemsize < 4 and floating if low is None else low
    )
    hold(made, kind)
    dtypes.add(made)
    vars(gradpack)[name] = made

    def undo() -> None:
        dtypes.take_away(made)
        let_go(made)
        vars(gradpack).pop(name, None)

    added.note(f"dtype {name}", undo)
    return made


def backend(made: Backend, *, replace: bool = False) -> Backend:
    """Make tensors of the arrays of another library. `gradpack.backends.array_api` makes one of any standard library.

    Args:
        made: the backend: a `gradpack.backends.Backend`.
        replace: whether it may take the place of the backend that its array types have.

    Raises:
        ValueError: if an array type has a backend already, unless `replace`.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import extend
        >>> import array_api_strict
        >>> from gradpack.backends.array_api import ArrayAPIBackend
        >>> with extend.registering():
        ...     _ = extend.backend(ArrayAPIBackend(array_api_strict), replace=True)
        ...     x = torch.as_tensor(array_api_strict.asarray([1.0, 2.0])).requires_grad_()
        ...     (x * x).sum().backward()
        ...     print(x.grad)
        tensor([2., 4.], dtype=gradpack.float64)
    """
    before = register_backend(made, replace=replace)

    added.note(f"backend {made.name}", lambda: forget_backend(made, before))
    return made


def device(kind: str, made: Backend) -> None:
    """Add a kind of device, on which tensors are arrays of a backend.

    `tensor.to(kind)` copies there, `tensor.cpu()` back, and gradients follow. The backend's `device_of` says
    `gradpack.device(kind)` of its arrays.

    Args:
        kind: its name, an identifier.
        made: the backend, whose arrays are there.

    Raises:
        ValueError: if there is such a kind already.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import extend
        >>> import array_api_strict
        >>> from gradpack.backends.array_api import ArrayAPIBackend
        >>> class Far(ArrayAPIBackend):
        ...     def device_of(self, array):
        ...         return torch.device("far")
        >>> with extend.registering():
        ...     extend.device("far", extend.backend(Far(array_api_strict, name="far"), replace=True))
        ...     w = torch.tensor([1.0, 2.0], requires_grad=True)
        ...     y = (w.to("far") ** 2).sum()
        ...     y.backward()
        ...     print(y.device, w.grad.device, w.grad)
        far cpu tensor([2., 4.])
    """
    if not kind.isidentifier():
        raise ValueError(f"extend.device(): {kind!r} is no Python identifier")
    if kind in devices.KINDS:
        added.refuse("device", kind, "the table of devices")
    place_backend(kind, made)
    added.note(f"device {kind}", lambda: unplace_backend(kind))
