"""A program for the test beside this file: what operations give with indices of 64 bits.

With the argument `narrow`, NumPy is made to behave as where an address has 32 bits: its indices and its own integers
have 32, and what it takes no wider indices for refuses them.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np


def narrowed(found: Any) -> Any:
    if isinstance(found, tuple):
        return tuple(narrowed(f) for f in found)
    return found.astype(np.int32) if getattr(found, "dtype", None) == np.int64 else found


def giving(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: (
        function(*args, **kwargs) if "dtype" in kwargs else narrowed(function(*args, **kwargs))
    )


def taking(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if getattr(args[place], "dtype", None) == np.int64:
            raise TypeError("Cannot cast array data from dtype('int64') to dtype('int32') according to the rule 'safe'")
        return function(*args, **kwargs)

    return call


def narrow() -> None:
    np.intp = np.int_ = np.int32  # type: ignore[misc]
    proxy = np.ndarray.__dict__
    methods = ctypes.py_object.from_address(id(proxy) + 16).value  # the dict behind the proxy
    for name in ("take", "repeat"):
        methods[name] = taking(methods[name], 1)
    for name in ("argmax", "argmin", "argsort", "argpartition", "nonzero", "searchsorted"):
        methods[name] = giving(methods[name])
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(np.ndarray))
    for name in ("arange", "count_nonzero", "flatnonzero", "lexsort", "tril_indices"):
        setattr(np, name, giving(getattr(np, name)))
    arrays = np.asarray
    np.asarray = lambda x, *args, **kwargs: (giving(arrays) if isinstance(x, list) else arrays)(x, *args, **kwargs)
    np.bincount = giving(taking(np.bincount, 0))


def calls(torch: Any) -> dict[str, Callable[..., Any]]:
    F = torch.nn.functional
    return {
        "arange": lambda x, i: (
            torch.arange(3),
            torch.arange(3, 9, 2),
            torch.arange(2**40, 2**40 + 2, dtype=torch.float64),
        ),
        "argmax": lambda x, i: (x.argmax(), x.argmin(1), x.argsort(), x.count_nonzero(0)),
        "bincount": lambda x, i: (torch.bincount(i), torch.bincount(i, x[0, :3])),
        "cross_entropy": lambda x, i: (F.cross_entropy(x, i), F.cross_entropy(x, i, reduction="none")),
        "ctc_loss": lambda x, i: F.ctc_loss(
            x.expand(4, 3, 4).log_softmax(2), i[:, None] % 3 + 1, torch.tensor([4, 4, 4]), torch.tensor([1, 1, 1])
        ),
        "embedding": lambda x, i: F.embedding(i, x, scale_grad_by_freq=True),
        "embedding_bag": lambda x, i: F.embedding_bag(i, x, torch.tensor([0, 1]), mode="mean"),
        "embedding_bag, max": lambda x, i: F.embedding_bag(i, x, torch.tensor([0, 1]), mode="max"),
        "gather": lambda x, i: (x.gather(0, i[:, None]), x.gather(1, i[:, None])),
        "grid_sample": lambda x, i: F.grid_sample(x[None, None], x.tanh()[None, :, :2, None].expand(1, 3, 2, 2)),
        "histogram": lambda x, i: (torch.histc(x.detach(), 5), torch.histogram(x.detach(), 5)[0]),
        "index_select": lambda x, i: (x.index_select(0, i), x.index_add(0, i, x), x[i], x[:, i]),
        "interpolate": lambda x, i: F.interpolate(x[None, None], size=(5, 7), mode="bilinear"),
        "kthvalue": lambda x, i: (*x.kthvalue(2), *x.median(0), *x.mode(0), *x.nanmedian(1)),
        "max": lambda x, i: (*x.max(1), *x.min(0), *x.cummax(0)),
        "max_pool2d": lambda x, i: F.max_pool2d(x[None, None], 2, return_indices=True),
        "max_unpool2d": lambda x, i: F.max_unpool2d(*F.max_pool2d(x[None, None], 2, return_indices=True), 2),
        "multi_margin_loss": lambda x, i: F.multi_margin_loss(x, i),
        "nonzero": lambda x, i: ((x > 0).nonzero(), (x[0] > 0).nonzero(), torch.tril_indices(3, 3)),
        "pad": lambda x, i: F.pad(x[None, None], (1, 2, 1, 1), mode="reflect"),
        "repeat_interleave": lambda x, i: (x.repeat_interleave(i, 0), torch.repeat_interleave(i)),
        "scatter": lambda x, i: (x.scatter(0, i[:, None], x), x.scatter_reduce(0, i[:, None], x, "prod")),
        "searchsorted": lambda x, i: torch.searchsorted(torch.tensor([0.0, 1.0]), x.detach()),
        "segment_reduce": lambda x, i: torch.segment_reduce(x, "sum", lengths=torch.tensor([1, 2])),
        "sort": lambda x, i: (*x.sort(0), *x.sort(1, descending=True), *x.repeat(1, 9).topk(2)),
        "sparse": lambda x, i: torch.sparse.mm(x.detach().t().to_sparse(), x.detach().to_sparse()).to_dense(),
        "take": lambda x, i: (x.take(i), x.put(i, x[0, :3])),
        "unique": lambda x, i: torch.unique(i, return_inverse=True, return_counts=True),
    }


def main() -> None:
    if sys.argv[1:] == ["narrow"]:
        narrow()
    import gradpack as torch  # after NumPy was made narrow

    for name, call in calls(torch).items():
        x = torch.tensor([[0.5, -1.0, 2.0, 0.25], [1.5, 0.0, -0.5, 3.0], [0.5, 2.5, 1.0, -2.0]], requires_grad=True)
        found = call(x, torch.tensor([2, 0, 2]))
        outs = found if isinstance(found, tuple) else (found,)
        print(name, *((out.dtype, out.detach().numpy().dtype, out.tolist()) for out in outs))
        smooth = [out.sum() for out in outs if out.requires_grad]
        if smooth:
            print(name, torch.autograd.grad(sum(smooth), x)[0].tolist())


if __name__ == "__main__":
    main()
