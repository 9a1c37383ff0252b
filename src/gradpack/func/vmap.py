"""`vmap`: vectorizes a function of one example over a batch dimension."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from ..base.modes import MODE
from ..base.tree import TreeSpec, broadcast_to, tree_flatten, tree_leaves, tree_unflatten
from ..core.tensor import Tensor
from ..declare.batching.batch_tensor import batched, entered, expanded
from ..declare.batching.level import VmapLevel
from .arguments import R


def name_of(func: Any) -> str:
    """The name of a function in error messages."""
    if hasattr(func, "__name__"):
        return str(func.__name__)
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return repr(func)


def vmap(
    func: Callable[..., R],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., R]:
    """Vectorize `func` over a dimension of its arguments: one call computes all examples.

    Inside, tensors have the shape of one example. Their values cannot be read there: data-dependent
    control flow and `.item()` raise.

    Args:
        func: takes tensors, also in nested tuples, lists and dicts, and returns such.
        in_dims: the dimension to map over, for each argument; None for one that is the same for all
            examples. Nested as the arguments are, or one for all of a container.
        out_dims: the batch dimension in each result.
        randomness: "error": random operations are refused; "same": all examples get the same numbers;
            "different": each gets its own.
        chunk_size: how many examples to compute at once; None for all.

    Raises:
        ValueError: for dimensions that do not fit the arguments or results, and for different sizes of them.
        RuntimeError: for an unknown `randomness`, and for what cannot be mapped.

    Example::

        >>> import gradpack as torch
        >>> torch.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
        tensor([3., 3.])
    """
    if randomness not in RANDOMNESS:
        raise unknown_randomness(randomness)
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if type(out_dims) is not int:
            _check_out_dims(func, out_dims)
        size, dims, flat, spec = _inputs(func, in_dims, args)
        if chunk_size is None or chunk_size >= size:
            return _run(func, size, dims, flat, spec, out_dims, randomness, kwargs)
        return _run_in_chunks(func, size, dims, flat, spec, out_dims, randomness, kwargs, chunk_size)

    return wrapped


RANDOMNESS = "error", "different", "same"


def unknown_randomness(randomness: str) -> RuntimeError:
    """Return the error for a value that is not one of `RANDOMNESS`."""
    return RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def _check_out_dims(func: Any, out_dims: Any) -> None:
    for dim in tree_leaves(out_dims):
        if dim is not None and not isinstance(dim, int):
            raise ValueError(
                f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
                "collection of ints representing where in the outputs the vmapped dimension should appear."
            )


def _run_in_chunks(
    func: Any,
    size: int,
    dims: list[Any],
    flat: list[Any],
    spec: TreeSpec,
    out_dims: Any,
    randomness: str,
    kwargs: Any,
    chunk_size: int,
) -> Any:
    from ..ops.random.generator import default_generator
    from ..ops.shape.join import cat

    made = []
    state = default_generator.get_state() if randomness == "same" else None
    for start in range(0, size, chunk_size):
        count = min(chunk_size, size - start)
        if state is not None:
            default_generator.set_state(state)
        part = [v if d is None else v.narrow(d, start, count) for v, d in zip(flat, dims, strict=True)]
        made.append(tree_flatten(_run(func, count, dims, part, spec, out_dims, randomness, kwargs)))
    form = made[0][1]
    places = broadcast_to(out_dims[0] if form.is_leaf() and isinstance(out_dims, tuple) else out_dims, form)
    columns = zip(*[leaves for leaves, _ in made], strict=True)
    joined = [c[0] if d is None else cat(list(c), d) for c, d in zip(columns, places or (), strict=True)]
    return tree_unflatten(joined, form)


def _inputs(func: Any, in_dims: Any, args: tuple[Any, ...]) -> tuple[int, list[Any], list[Any], TreeSpec]:
    """Return the batch size, the batch dimension of each flat argument, the flat arguments and their structure."""

    def refused(reason: str) -> ValueError:
        return ValueError(f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>): {reason}")

    if not isinstance(in_dims, int | tuple):
        raise refused(
            "expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name_of(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
            "vmap over a function with no inputs. The latter is unsupported."
        )
    flat, spec = tree_flatten(args)
    dims = broadcast_to(in_dims, spec)
    if dims is None:
        raise refused(
            f"in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    sizes = []
    for i, (value, dim) in enumerate(zip(flat, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise refused(f"Got in_dim={dim} for an input but in_dim must be either an integer dimension or None.")
        if not isinstance(value, Tensor):
            raise refused(
                f"Got in_dim={dim} for an input but the input is of type {type(value)}. We cannot vmap over "
                "non-Tensor arguments, please use None as the respective in_dim"
            )
        n = len(value._shape)
        if not -n <= dim < n:
            raise refused(
                f"Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {n} so expected "
                f"in_dim to satisfy -{n} <= in_dim < {n}."
            )
        dims[i] = dim % n
        sizes.append(value._shape[dim])
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0], dims, flat, spec


def _run(
    func: Any, size: int, dims: list[Any], flat: list[Any], spec: TreeSpec, out_dims: Any, randomness: str, kwargs: Any
) -> Any:
    mode = MODE.get()
    level = VmapLevel(size, randomness)
    given = list(flat)
    for i, d in enumerate(dims):
        if d is not None:
            given[i] = batched(flat[i].movedim(d, 0), level, (flat[i], d)) if d else batched(flat[i], level)
    try:
        try:
            MODE.set(entered(mode, level))
            result = func(*tree_unflatten(given, spec), **kwargs)
        finally:
            MODE.set(mode)
        return _results(func, result, out_dims, level, zip(given, flat, dims, strict=True))
    finally:
        level.close()


def _results(func: Any, result: Any, out_dims: Any, level: VmapLevel, arguments: Any) -> Any:
    """Unwrap results; `arguments` are triples of a batched argument, the original one and its batch dimension."""
    if isinstance(result, Tensor) and type(out_dims) is int:
        for inner, value, dim in arguments:
            if inner is result and dim == out_dims:
                return value
        return _out(func, result, out_dims, level)
    leaves, form = tree_flatten(result)
    places = _places(func, result, out_dims, form)
    untouched = {(id(g), d): v for g, v, d in arguments if d is not None}
    made = [untouched.get((id(v), d)) for v, d in zip(leaves, places, strict=True)]
    triples = zip(made, leaves, places, strict=True)
    return tree_unflatten([_out(func, v, d, level) if m is None else m for m, v, d in triples], form)


def _places(func: Any, result: Any, out_dims: Any, form: TreeSpec) -> list[Any]:
    def refuse() -> NoReturn:
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure "
            f"of `outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {form}."
        )

    if isinstance(result, Tensor):
        if isinstance(out_dims, tuple) and len(out_dims) == 1:
            return list(out_dims)
        if isinstance(out_dims, int) or out_dims is None:
            return [out_dims]
        refuse()
    return broadcast_to(out_dims, form) or (refuse() if form.num_leaves else [])


def _out(func: Any, value: Any, dim: Any, level: VmapLevel) -> Any:
    if dim is None:
        if level.has(value):
            name = name_of(func)
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return value
    if not isinstance(value, Tensor):
        name = name_of(func)
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(value)}. Did you mean to set "
            "out_dims= to None for output?"
        )
    found = value._data.value if level.has(value) else expanded(value, level.size)
    return found.movedim(0, dim) if dim else found
