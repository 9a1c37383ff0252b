"""Masks of attention by blocks: which blocks of scores are kept wholly, and which in part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ...base.dtypes import int32
from ...core.tensor import Tensor
from ...func import vmap
from ...ops.create.ranges import arange

Mask: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Keep every score."""
    return batch.new_ones(()).bool()


def and_masks(*mask_mods: Mask) -> Mask:
    """Return the mask that keeps the scores that all of these keep."""
    return _joined(mask_mods, True)


def or_masks(*mask_mods: Mask) -> Mask:
    """Return the mask that keeps the scores that one of these keeps."""
    return _joined(mask_mods, False)


def _joined(masks: tuple[Mask, ...], every: bool) -> Mask:
    if not all(callable(mask) for mask in masks):
        raise RuntimeError(f"All inputs should be callable mask_mods: {masks}")

    def joined(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_ones(()).bool() if every else b.new_zeros(()).bool()
        for mask in masks:
            found = mask(b, h, q_idx, kv_idx)
            result = result & found if every else result | found
        return result

    return joined


def create_mask(mod_fn: Any, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None) -> Tensor:
    """Return a mask of scores, of shape (B, H, Q_LEN, KV_LEN), from a function of places."""
    places = [arange(n or 1, device=device) for n in (B, H, Q_LEN, KV_LEN)]
    for dim in reversed(range(4)):
        mod_fn = vmap(mod_fn, in_dims=tuple(0 if i == dim else None for i in range(4)))
    found: Tensor = mod_fn(*places)
    return found


class BlockMask:
    """A mask of scores with the blocks that it keeps: in part (`kv_`), and wholly (`full_kv_`).

    Attributes:
        kv_num_blocks, full_kv_num_blocks: how many blocks of columns each block of rows has.
        kv_indices, full_kv_indices: which ones, the kept ones first.
        q_num_blocks, q_indices, full_q_num_blocks, full_q_indices: the same for each block of columns.
        BLOCK_SIZE: rows and columns of a block.
        seq_lengths: rows and columns of the mask.
        mask_mod: the function of places.
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (128, 128),
        mask_mod: Mask = noop_mask,
    ) -> None:
        if kv_indices.ndim < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = 128,
        mask_mod: Mask | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """Make a mask of the blocks of columns that each block of rows has."""
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        lengths = seq_lengths or (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        columns: list[Any] = [None] * 4
        if compute_q_blocks:
            columns[:2] = _ordered(_dense(kv_num_blocks, kv_indices).transpose(-2, -1))
            if full_kv_num_blocks is not None and full_kv_indices is not None:
                columns[2:] = _ordered(_dense(full_kv_num_blocks, full_kv_indices).transpose(-2, -1))
        rows = (kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices)
        make: Callable[..., BlockMask] = cls
        return make(lengths, *rows, *columns, size, mask_mod or noop_mask)

    @property
    def shape(self) -> tuple[int, ...]:
        """Batches, heads, rows and columns."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def _tensors(self) -> tuple[Tensor | None, ...]:
        """The tables of blocks, in the order of `__init__`."""
        rows = (self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices)
        return (*rows, self.q_num_blocks, self.q_indices, self.full_q_num_blocks, self.full_q_indices)

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """Return all attributes in the order of `__init__`; lengths and block sizes as two numbers each if flat."""
        ends: tuple[Any, ...] = (self.BLOCK_SIZE,)
        lengths: tuple[Any, ...] = (self.seq_lengths,)
        if flatten:
            ends, lengths = self.BLOCK_SIZE, self.seq_lengths
        return (*lengths, *self._tensors(), *ends, self.mask_mod)

    def __getitem__(self, index: Any) -> BlockMask:
        """The mask of some batches and heads; dimensions stay."""
        index = index if isinstance(index, tuple) else (index,)
        kept = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in index)
        return self._of([None if t is None else t[kept] for t in self._tensors()])

    def to(self, device: Any) -> BlockMask:
        """Return the mask with its tables on a device."""
        return self._of([None if t is None else t.to(device) for t in self._tensors()])

    def _of(self, tables: list[Any]) -> BlockMask:
        """The same mask with other tables."""
        made: Callable[..., BlockMask] = type(self)
        return made(self.seq_lengths, *tables, self.BLOCK_SIZE, self.mask_mod)

    def to_dense(self) -> Tensor:
        """Return a table of all blocks: 1 for those that are kept, wholly or in part."""
        found = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            found = found | _dense(self.full_kv_num_blocks, self.full_kv_indices)
        return found

    def numel(self) -> int:
        """Return the number of scores."""
        count = 1
        for n in self.shape:
            count *= n
        return count

    def sparsity(self) -> float:
        """Return the percentage of scores in blocks that are not kept."""
        blocks = int(self.kv_num_blocks.sum().item())
        if self.full_kv_num_blocks is not None:
            blocks += int(self.full_kv_num_blocks.sum().item())
        return 100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


def create_block_mask(
    mask_mod: Mask,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = 128,
    _compile: bool = False,
    separate_full_blocks: bool = True,
) -> BlockMask:
    """Return the block mask of a function `mask_mod(b, h, q_idx, kv_idx)` of places that says which scores are kept.

    Example::

        >>> from gradpack.nn.attention.flex_attention import create_block_mask
        >>> create_block_mask(lambda b, h, q, kv: q >= kv, 1, 1, 256, 256)
        BlockMask(shape=(1, 1, 256, 256), sparsity=25.00%)
    """
    rows, columns = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    high, wide = -(-Q_LEN // rows), -(-KV_LEN // columns)
    padded = mask.new_zeros(*mask.shape[:2], high * rows, wide * columns)
    padded[:, :, :Q_LEN, :KV_LEN] = mask
    kept = padded.view(*mask.shape[:2], high, rows, wide, columns).sum((3, 5))
    whole = (kept == rows * columns) & separate_full_blocks
    partial, full = _ordered((kept > 0) & ~whole), _ordered(whole) if separate_full_blocks else (None, None)
    make: Callable[..., BlockMask] = BlockMask.from_kv_blocks
    return make(*partial, *full, (rows, columns), mask_mod, (Q_LEN, KV_LEN))


def _ordered(dense: Tensor) -> tuple[Tensor, Tensor]:
    """How many blocks each row of a table has, and their columns, before those of the others."""
    order = dense.to(int32).argsort(dim=-1, descending=True, stable=True)
    return dense.to(int32).sum(-1).to(int32), order.to(int32).contiguous()


def _dense(count: Tensor, indices: Tensor) -> Tensor:
    """The table of blocks again."""
    width = indices.shape[-1]
    given = arange(width, device=indices.device) < count.unsqueeze(-1)
    found = given.new_zeros(indices.shape, dtype=int32)
    return found.scatter(-1, indices.long(), given.to(int32))
