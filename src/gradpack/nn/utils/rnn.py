"""Sequences of different lengths: padded, packed, and as they are.

Packed data holds all sequences without gaps: first the first elements of all, then the second ones
of those that have any, and so on, the longest sequence first.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from numbers import Real
from typing import Any, NamedTuple, Self

from ...base.dtypes import bfloat16, int8, int16, int32, int64, uint8
from ...base.errors import not_a_tensor
from ...core.tensor import Tensor
from ...ops.create.create import as_tensor
from ...ops.create.fill import full
from ...ops.create.fill_like import empty_like
from ...ops.create.ranges import arange
from ...ops.reduce.order import sort
from ...ops.shape.join import cat, stack
from .._public import give_all


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Fields):
    """Packed data, how many sequences run at each time, and how they were sorted.

    Made by `pack_padded_sequence` and `pack_sequence`.

    Example::

        >>> import gradpack as torch
        >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
        >>> packed.data, packed.batch_sizes
        (tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, list | tuple) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. "
                "They should be instantiated by functions like pack_sequence and pack_padded_sequences in "
                "nn.utils.rnn. "
                "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """The same with the data in another dtype or place; itself if nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        orders = (self.sorted_indices, self.unsorted_indices)
        return type(self)(data, self.batch_sizes, *(None if o is None else o.to(data.device) for o in orders))

    def double(self) -> Self:
        """Return it with the data in float64."""
        return self.to(self.data.double().dtype)

    def float(self) -> Self:
        """Return it with the data in float32."""
        return self.to(self.data.float().dtype)

    def half(self) -> Self:
        """Return it with the data in float16."""
        return self.to(self.data.half().dtype)

    def bfloat16(self) -> Self:
        """Return it with the data in bfloat16."""
        return self.to(bfloat16)

    def byte(self) -> Self:
        """Return it with the data in uint8."""
        return self.to(uint8)

    def char(self) -> Self:
        """Return it with the data in int8."""
        return self.to(int8)

    def short(self) -> Self:
        """Return it with the data in int16."""
        return self.to(int16)

    def int(self) -> Self:
        """Return it with the data in int32."""
        return self.to(int32)

    def long(self) -> Self:
        """Return it with the data in int64."""
        return self.to(int64)

    def cpu(self, *args: Any, **kwargs: Any) -> Self:
        """Return it with the data on the CPU."""
        return self.to(*args, **{**kwargs, "device": "cpu"})

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a GPU."""
        return self.data.device.type == "cuda"

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory: never, here."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1]))
        tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    return empty_like(permutation).scatter_(0, permutation, arange(permutation.numel(), device=permutation.device))


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack a padded batch.

    Args:
        input: shape (T, B, ...), or (B, T, ...) with `batch_first`.
        lengths: shape (B): how much of each sequence there is.
        enforce_sorted: are the sequences sorted by length, the longest first? Else they will be.

    Raises:
        RuntimeError: for lengths that are not positive, not sorted, or not as many as sequences.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[1, 4], [2, 0], [3, 0]])
        >>> torch.nn.utils.rnn.pack_padded_sequence(x, [3, 1]).data
        tensor([1, 4, 2, 3])
    """
    count = lengths if isinstance(lengths, Tensor) else as_tensor(lengths, dtype=int64, device="cpu")
    if isinstance(input, Tensor) and not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    if count.dim() != 1 or count.device.type != "cpu":
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {count.dim()}D {count.device} Long tensor"
        )
    if not isinstance(input, Tensor):
        raise not_a_tensor("pack_padded_sequence", "input", 1, input)
    order = None
    if not enforce_sorted:
        count, order = sort(count, 0, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    if batch_first:
        input = input.transpose(0, 1)
    sizes = [int(n) for n in count.tolist()]
    if len(sizes) != input.size(1):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={input.size(1)})"
        )
    if sizes[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if sizes != sorted(sizes, reverse=True):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    running = [sum(n > t for n in sizes) for t in range(sizes[0])]
    if sizes[0] > input.size(0):
        raise RuntimeError(
            f"Expected all lengths to be at most {input.size(0)}, the length of the input, got {sizes[0]}"
        )
    data = cat([input[t, :n] for t, n in enumerate(running)])
    return PackedSequence(data, as_tensor(running, device="cpu"), order, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The padded batch, and the lengths, of packed sequences, in the order they had.

    Args:
        total_length: how long to make it; default the longest sequence.

    Raises:
        ValueError: for a total length that is too short.

    Example::

        >>> import gradpack as torch
        >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
        >>> torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        (tensor([[1, 2, 3],
                [4, 0, 0]]), tensor([3, 1]))
    """
    running = [int(n) for n in sequence.batch_sizes.tolist()]
    length = len(running)
    if total_length is not None and total_length < length:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {length}"
        )
    data = sequence.data
    filled = partial(full, fill_value=padding_value, dtype=data.dtype, device=data.device)
    batch, rest = running[0], tuple(data._shape[1:])
    rows = []
    for part in data.split(running):
        missing = batch - part.size(0)
        rows.append(cat((part, filled((missing, *rest)))) if missing else part)
    if total_length is not None and total_length > length:
        rows += [filled((batch, *rest))] * (total_length - length)
    out = stack(rows, 1 if batch_first else 0)
    lengths = as_tensor([sum(n > i for n in running) for i in range(batch)], device="cpu")
    if sequence.unsorted_indices is None:
        return out, lengths
    back = sequence.unsorted_indices
    return out.index_select(0 if batch_first else 1, back), lengths[back.cpu()]


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences of different lengths as one padded batch: (T, B, ...), or (B, T, ...) with `batch_first`.

    Raises:
        RuntimeError: for what is no iterable, none at all, and another side than right or left.
        TypeError: for elements that are no tensors, and arguments of other types.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.rnn.pad_sequence([torch.tensor([1, 2]), torch.tensor([3])], batch_first=True)
        tensor([[1, 2],
                [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    parts = tuple(sequences)
    if not parts:
        raise RuntimeError("received an empty list of sequences")
    for i, part in enumerate(parts):
        if not isinstance(part, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(part).__name__}")
        if not part.dim():
            raise RuntimeError(f"pad_sequence: a sequence needs a dimension to pad, but element {i} has none")
    _check_option("batch_first", 2, batch_first, bool, "bool")
    _check_option("padding_value", 3, padding_value, (Real, Tensor), "float")
    _check_option("padding_side", 4, padding_side, str, "str")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    for i, part in enumerate(parts):
        if part._shape[1:] != parts[0]._shape[1:]:
            raise RuntimeError(
                f"pad_sequence: sequences may differ in their first size only, and element {i} has shape "
                f"{list(part._shape)}, element 0 {list(parts[0]._shape)}"
            )
    length, first = max(p.size(0) for p in parts), parts[0]
    padded = []
    for p in parts:
        size = (length - p.size(0), *first._shape[1:])
        filler = full(size, padding_value, dtype=first.dtype, device=first.device)
        padded.append(cat((p, filler) if padding_side == "right" else (filler, p)))
    return stack(padded, 0 if batch_first else 1)


def _check_option(name: str, position: int, value: Any, kinds: Any, wanted: str) -> None:
    """Raise TypeError if an option of `pad_sequence` has the wrong type."""
    if not isinstance(value, kinds):
        raise TypeError(
            f"pad_sequence(): argument '{name}' (position {position}) must be {wanted}, not {type(value).__name__}"
        )


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded batch.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.rnn.unpad_sequence(torch.tensor([[1, 2], [3, 0]]), torch.tensor([2, 1]), batch_first=True)
        [tensor([1, 2]), tensor([3])]
    """
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    places = arange(padded_sequences._shape[1], device=padded_sequences.device)
    return [row[places < n] for row, n in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of sequences.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.rnn.pack_sequence([torch.tensor([4]), torch.tensor([1, 2])], enforce_sorted=False).data
        tensor([1, 4, 2])
    """
    lengths = as_tensor([s.size(0) for s in sequences], device="cpu")
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed.

    Example::

        >>> import gradpack as torch
        >>> rnn = torch.nn.utils.rnn
        >>> rnn.unpack_sequence(rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]))
        [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


give_all(globals())
