"""Softmax over many classes of very different frequency."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ..core.tensor import Tensor
from ..ops.shape.join import cat
from . import functional as F
from .containers import ModuleList, Sequential
from .layers import Linear
from .module import Module


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of target classes, and their negative mean: frequent classes cheap, others in clusters.

    Source: Grave et al., 2016.

    Args:
        in_features: the size of the last dimension of the input.
        n_classes: how many classes, the most frequent first.
        cutoffs: where clusters begin; classes before the first stand in the head.
        div_value: the features of each cluster are fewer by this factor than those of the one before.
        head_bias: add a bias to the head?

    Raises:
        ValueError: unless the cutoffs rise and lie between 1 and n_classes - 1.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 10, [2, 5])
        >>> layer(torch.ones(3, 16), torch.tensor([0, 4, 9])).output.shape
        gradpack.Size([3])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        found = list(cutoffs)
        if not found:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if found != sorted(set(found)) or found[0] <= 0 or found[-1] > n_classes - 1 or any(int(c) != c for c in found):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*found, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        where = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **where)
        self.tail = ModuleList()
        for i, (start, stop) in enumerate(pairwise(self.cutoffs), 1):
            middle = int(in_features // div_value**i)
            self.tail.append(
                Sequential(
                    Linear(in_features, middle, bias=False, **where), Linear(middle, stop - start, bias=False, **where)
                )
            )

    def reset_parameters(self) -> None:
        """Initialize all weights with random values."""
        self.head.reset_parameters()
        for pair in self.tail:
            for layer in pair:
                layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        if target_.ndim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target_.ndim == 1 and input_.size(0) != target_.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input_.ndim != target_.ndim + 1:
            raise RuntimeError(
                f"{target_.ndim}D target tensor expects {target_.ndim + 1}D input tensors, but found inputs with size "
                f"{input_.size()}"
            )
        batched = target_.ndim > 0
        input, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        output = input.new_zeros(target.size(0))
        column = target.clone()
        used = 0
        for i, (low, high) in enumerate(pairwise([0, *self.cutoffs])):
            chosen: Any = (target >= low) & (target < high)
            rows = chosen.nonzero().flatten()
            used += rows.numel()
            if not rows.numel() or not i:
                continue
            column[chosen] = self.shortlist_size + i - 1
            within = F.log_softmax(self.tail[i - 1](input.index_select(0, rows)), dim=1)
            local = within.gather(1, (target[chosen] - low).unsqueeze(1))
            output = output.index_copy(0, rows, local.squeeze(1))
        if used != target.size(0):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        head = F.log_softmax(self.head(input), dim=1)
        output = output + head.gather(1, column.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes: (N, n_classes)."""
        return self._all(input, self.head(input))

    def _all(self, input: Tensor, scores: Tensor) -> Tensor:
        head = F.log_softmax(scores, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(tail(input), dim=1) + cluster)
        return cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row: (N)."""
        scores = self.head(input)
        best: Any = scores.argmax(dim=1)
        unsure = best >= self.shortlist_size
        if unsure.any():
            best[unsure] = self._all(input[unsure], scores[unsure]).argmax(dim=1)
        return best
