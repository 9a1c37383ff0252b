"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.tensor import Tensor
from ...ops.shape.join import cat
from .._public import give_all


def _one_device(parameters: Iterable[Tensor]) -> list[Tensor]:
    found = list(parameters)
    devices = list(dict.fromkeys(str(p.device) for p in found))
    if len(devices) > 1:
        raise TypeError(
            f"Found two parameters on different devices ({', '.join(devices)}), this is currently not supported: "
            "move them to one device first"
        )
    return found


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters, one after the other, in a tensor with one dimension.

    Raises:
        TypeError: if they are on different devices.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.parameters_to_vector(torch.nn.Linear(3, 2).parameters()).shape
        gradpack.Size([8])
    """
    return cat([p.reshape(-1) for p in _one_device(parameters)])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make slices of `vec` the data of the parameters, in order.

    Raises:
        TypeError: unless `vec` is a tensor and the parameters are on one device.
        RuntimeError: if `vec` has fewer elements than the parameters; they are left as they were.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.Linear(1, 1)
        >>> torch.nn.utils.vector_to_parameters(torch.tensor([2.0, 3.0]), layer.parameters())
        >>> layer(torch.ones(1)).item()
        5.0
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected a Tensor, but got: {type(vec).__name__}")
    found = _one_device(parameters)
    wanted = sum(p.numel() for p in found)
    if vec.numel() < wanted:
        raise RuntimeError(f"vector_to_parameters: the parameters have {wanted} elements, the vector {vec.numel()}")
    start = 0
    for p in found:
        end = start + p.numel()
        p.data = vec[start:end].view(p.shape).data
        start = end


give_all(globals())
