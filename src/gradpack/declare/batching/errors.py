"""Errors that `vmap` raises for what it does not support."""

from __future__ import annotations

NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"
NO_OUT = "Batching rule not implemented for aten::{}.out; the fallback path doesn't work on out= or view ops."
NO_FORMAT = "NYI: querying is_contiguous inside of vmap for memory_format other than torch.contiguous_format"
NO_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
    "please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
    "internals, please file a bug report."
)
NO_BRANCH = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
    "yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
NO_VALUE = (  # where a batched tensor is differentiated
    "vmap: It looks like you're either (1) calling .item() on a Tensor or (2) attempting to use a Tensor in some "
    "data-dependent control flow or (3) encountering this error in PyTorch internals. For (1): we don't support vmap "
    "over calling .item() on a Tensor, please try to rewrite what you're doing with other operations. For (2): we "
    "don't support data-dependent control flow in vmap yet, please file an issue at "
    "https://github.com/pytorch/pytorch/issues . For (3): please file an issue."
)


# Names of in-place operations in messages: some share a common name, some lack the namespace.
_ARITHMETIC = set("add_ sub_ mul_ div_ true_divide_ copy_ masked_fill_ clamp_min_ clamp_max_".split())
_ARITHMETIC |= {"logical_and_", "logical_or_", "logical_xor_"}
_BARE = set("fill_ scatter_add_ scatter_reduce_ index_fill_ index_add_ index_put_".split())


def not_writable(name: str) -> RuntimeError:
    """Return the error for an in-place write of batched values into an unbatched tensor."""
    what = f"aten::{name}"
    if name in _ARITHMETIC:
        what = "inplace arithmetic"
    elif name == "bernoulli_":
        what = "inplace bernoulli"
    elif name in _BARE:
        what = name
    return RuntimeError(
        f"vmap: {what}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has "
        "more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over "
        f"in a vmap. Please try to use out-of-place operators instead of {what}. If said operator is being called "
        "inside the PyTorch framework, please file a bug report instead."
    )
