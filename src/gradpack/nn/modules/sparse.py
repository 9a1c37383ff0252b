"""Tables of vectors: `Embedding`, `EmbeddingBag`."""

from __future__ import annotations

from typing import Any, Self

from ...core.tensor import Tensor
from ...ops.create.fill import empty
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """Base class of the layers that look vectors up in a table."""

    weight: Tensor
    padding_idx: int | None

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])


class Embedding(_Table):
    """A table of vectors, looked up by index: of words, for example.

    Args:
        num_embeddings: how many vectors.
        embedding_dim: the size of each.
        padding_idx: the index of a vector that starts as zeros and gets no gradient.
        max_norm: vectors that are looked up and longer than this are shortened to it first, in place.
        norm_type: the p of that norm.
        scale_grad_by_freq: divide the gradient of a vector by how often it was looked up.
        sparse: the gradient of the table is a sparse tensor, with entries for the rows that were looked up.

    Shape:
        input: the indices, of dtype int64 or int32, of any shape.
        output: (*input.shape, embedding_dim).
        weight: (num_embeddings, embedding_dim), of the standard normal distribution at the start.

    Raises:
        IndexError: in a call, for an index that is no row.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Embedding(10, 3)(torch.tensor([[1, 2], [4, 5]])).shape
        gradpack.Size([2, 2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError(
                    f"Padding_idx must be within num_embeddings: {padding_idx} is not, for {num_embeddings} vectors"
                )
            padding_idx %= num_embeddings
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            _weight = empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(_weight, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError(
                    "Shape of weight does not match num_embeddings and embedding_dim: "
                    f"{list(_weight.shape)} is not [{num_embeddings}, {embedding_dim}]"
                )
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return f"{text}, sparse=True" if self.sparse else text

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """An embedding with this (num_embeddings, embedding_dim) table, which does not learn if `freeze`.

        Raises:
            AssertionError: unless the table has two dimensions.
        """
        if embeddings.dim() != 2:
            raise AssertionError(f"Embeddings parameter is expected to be 2-dimensional, not {embeddings.dim()}")
        rows, columns = embeddings.shape
        return cls(
            rows,
            columns,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
            _weight=embeddings,
            _freeze=freeze,
        )


class EmbeddingBag(_Table):
    """Sums, means or maxima over bags of vectors, looked up in a table by index.

    Args:
        num_embeddings: how many vectors.
        embedding_dim: the size of each.
        max_norm: vectors that are looked up and longer than this are shortened to it first, in place.
        norm_type: the exponent of that norm.
        mode: "sum", "mean" or "max".
        include_last_offset: whether the offsets end with the end of the last bag.
        padding_idx: the index of a vector that starts as zeros, does not count and gets no gradient.

    Shape:
        input: indices: (bags, size), or all bags one after another, with offsets.
        offsets: where each bag begins.
        output: (bags, embedding_dim).
        weight: (num_embeddings, embedding_dim), of the standard normal distribution at the start.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.EmbeddingBag(10, 3)(torch.tensor([1, 2, 4, 5]), torch.tensor([0, 3])).shape
        gradpack.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        if _weight is None:
            self.weight = Parameter(empty((num_embeddings, embedding_dim), device=device, dtype=dtype))
            self.reset_parameters()
        else:
            if list(_weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        options = (self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse)
        ends = (self.include_last_offset, self.padding_idx)
        return F.embedding_bag(input, self.weight, offsets, *options, per_sample_weights, *ends)

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm!r}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type!r}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq!r}"
        text += f", mode={self.mode!r}"
        return text if self.padding_idx is None else f"{text}, padding_idx={self.padding_idx!r}"

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """Bags of this (num_embeddings, embedding_dim) table, which does not learn if `freeze`.

        Raises:
            AssertionError: unless the table has two dimensions.
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        made = cls(
            num_embeddings=rows,
            embedding_dim=columns,
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        made.weight.requires_grad = not freeze
        return made
