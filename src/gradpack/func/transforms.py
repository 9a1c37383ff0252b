"""Function transforms that differentiate: `grad`, `grad_and_value`, `vjp`, `jvp`, `linearize`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..autograd.arguments import complex_mismatch
from ..autograd.forward_ad import push_forward, wrong_size
from ..base.dtypes import FLOATING
from ..base.modes import MODE, using
from ..base.tree import tree_flatten, tree_unflatten
from ..core.tensor import Tensor
from .arguments import Function, check_nested_outputs, pick, replaced, some_tensors, without_aux
from .sources import Sources

_VALUE = "grad_and_value(f)(*args)"
_VJP = "vjp(f, *primals)"
_JVP = "jvp(f, primals, tangents)"


def grad(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """Return a function that computes the gradients of `func`, which returns one number.

    Args:
        func: returns a 0-dim tensor; with `has_aux`, a tuple `(output, aux)`.
        argnums: the arguments to differentiate with respect to: an int, or a tuple for a tuple of gradients. Arguments
            may be nested containers of tensors; gradients then are, too.
        has_aux: whether `func` returns `aux`, which is then returned beside the gradient.

    Raises:
        RuntimeError: if the function returns anything else.

    Example::

        >>> import gradpack as torch
        >>> torch.func.grad(torch.sin)(torch.tensor(0.0))
        tensor(1.)
        >>> torch.func.grad(torch.func.grad(lambda x: x ** 3))(torch.tensor(2.0))
        tensor(12.)
    """
    return _differentiated(func, argnums, has_aux, False)


def grad_and_value(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """Return a function that computes the gradient of `func` and its value: see `grad`.

    Returns:
        A function that returns `(gradient, value)`; with `has_aux`, `(gradient, (value, aux))`.

    Example::

        >>> import gradpack as torch
        >>> torch.func.grad_and_value(lambda x: x ** 2)(torch.tensor(3.0))
        (tensor(6.), tensor(9.))
    """
    return _differentiated(func, argnums, has_aux, True)


def _differentiated(func: Function, argnums: Any, has_aux: bool, with_value: bool) -> Function:
    @wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        chosen, differentiated = pick(args, argnums)
        flat, form = tree_flatten(differentiated)
        sources = Sources(flat, func)
        output = sources.run(func, replaced(args, chosen, tree_unflatten(sources.inside, form)), kwargs)
        aux = None
        if has_aux:
            output, aux = without_aux(output, True, _VALUE)
        if not isinstance(output, Tensor):
            raise RuntimeError(f"{_VALUE}: Expected f(*args) to return a Tensor, got {type(output)}")
        if output._shape:
            raise RuntimeError(
                f"{_VALUE}: Expected f(*args) to return a scalar Tensor, got tensor with {output.ndim} dims. Maybe you "
                "wanted to use the vjp or jacrev APIs instead?"
            )
        if output._spec.dtype.is_complex:
            raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {output.dtype}")
        if has_aux:
            _tensors(aux)
        slope = tree_unflatten(sources.pull([output], None, keep=sources.grad), form)
        aux = sources.results(aux) if has_aux else None
        if not with_value:
            return (slope, aux) if has_aux else slope
        value = sources.results(output)
        return slope, (value, aux) if has_aux else value

    return wrapped


def _tensors(aux: Any) -> Any:
    for leaf in tree_flatten(aux)[0]:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
    return aux


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """Return the outputs of a function, and a function that computes vector-Jacobian products.

    Args:
        primals: tensors, or nested containers of them.
        has_aux: whether `func` returns `(output, aux)`.

    Returns:
        `(output, vjp_fn)` or `(output, vjp_fn, aux)`. `vjp_fn(cotangents)` takes cotangents with the structure of
        the output, and returns the gradient of the input, or a tuple of those of several.

    Example::

        >>> import gradpack as torch
        >>> out, pull = torch.func.vjp(torch.sin, torch.zeros(2))
        >>> pull(torch.ones(2))
        (tensor([1., 1.]),)
    """
    return vjp_of(func, primals, None, has_aux)


def vjp_of(func: Function, primals: tuple[Any, ...], argnums: Any, has_aux: bool) -> Any:
    """`vjp` with respect to the arguments at `argnums` (None for all)."""
    argnums, chosen = (None, primals) if argnums is None else pick(primals, argnums)
    flat, form = tree_flatten(chosen)
    sources = Sources(flat, func)
    given = tree_unflatten(sources.inside, form)
    given = given if argnums is None else replaced(primals, argnums, given)
    outputs, aux = without_aux(sources.run(func, given), has_aux, _VJP)
    leaves, out_form = tree_flatten(outputs)
    check_nested_outputs(leaves, _VJP)
    for out in leaves:
        if not (out.is_floating_point() or out.is_complex()):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"{out.dtype}"
            )

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        seeds, seed_form = tree_flatten(cotangents)
        if seed_form != out_form:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {_shown(seed_form)}, primal output: {_shown(out_form)}"
            )
        for nr, (seed, out) in enumerate(zip(seeds, leaves, strict=True)):
            if not isinstance(seed, Tensor):
                raise TypeError(f"gradients can be either Tensors or None, but got {type(seed).__name__}")
            if seed._shape != out._shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{nr}] has a shape of {seed.shape} and output[{nr}] has a shape "
                    f"of {out.shape}."
                )
            if seed.is_complex() != out.is_complex():
                raise complex_mismatch(nr, seed.dtype, out.dtype)
        found = sources.pull(leaves, seeds, keep=retain_graph, create_graph=create_graph)
        return tree_unflatten(found, form)

    shown = tree_unflatten(sources.results(leaves), out_form)
    return (shown, vjp_fn, sources.results(_tensors(aux))) if has_aux else (shown, vjp_fn)


class _Star:
    def __repr__(self) -> str:
        return "*"


def _shown(form: Any) -> str:
    return repr(tree_unflatten([_Star()] * form.num_leaves, form))


def jvp(func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """Return the outputs of a function, and its Jacobian-vector product with the tangents, by forward mode.

    Args:
        primals: a tuple of the positional arguments.
        tangents: a tuple of the same form and shapes.
        strict: raise RuntimeError if an output does not depend on the inputs.
        has_aux: whether `func` returns `(output, aux)`.

    Returns:
        `(output, tangent)` or `(output, tangent, aux)`.

    Example::

        >>> import gradpack as torch
        >>> torch.func.jvp(torch.sin, (torch.zeros(2),), (torch.ones(2),))
        (tensor([0., 0.]), tensor([1., 1.]))
    """
    return jvp_of(func, primals, tangents, None, strict, has_aux)


def jvp_of(func: Function, primals: Any, tangents: Any, argnums: Any, strict: bool, has_aux: bool) -> Any:
    """`jvp` with respect to the arguments at `argnums` (None for all)."""
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    argnums, chosen = (None, primals) if argnums is None else pick(primals, argnums)
    flat, form = tree_flatten(chosen)
    pushed, tangent_form = tree_flatten(tangents)
    if argnums is not None and form.is_leaf() and tangent_form.num_leaves == 1:
        tangent_form = form
    if form != tangent_form:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {form} and tangents with structure "
            f"{tangent_form}"
        )
    some_tensors(flat, _JVP, "primals")
    some_tensors(pushed, _JVP, "tangents")
    for x, t in zip(flat, pushed, strict=True):
        if t._shape != x._shape:
            raise wrong_size(x, t)
        for name, value in (("primal", x), ("tangent", t)):
            if value._spec.dtype.category < FLOATING:
                raise ValueError(f"Expected {name} to be floating point or complex, but got: {value.dtype}")

    def call(values: list[Any]) -> tuple[Any, Any]:
        inner = tree_unflatten(values, form)
        args = inner if argnums is None else replaced(primals, argnums, inner)
        output, aux = without_aux(func(*args), has_aux, _JVP)
        check_nested_outputs(tree_flatten(output)[0], _JVP)
        return output, _tensors(aux) if has_aux else None

    push = _push_twice_back if MODE.get().forward else push_forward
    output, tangent, aux = push(call, flat, pushed, strict)
    return (output, tangent, aux) if has_aux else (output, tangent)


def _push_twice_back(call: Callable[[list[Any]], Any], flat: list[Tensor], pushed: list[Tensor], strict: bool) -> Any:
    """Compute a jvp as the vjp of a vjp, which is linear in its cotangents: where a forward-mode level is active."""
    from ..ops.create.fill_like import zeros_like

    sources = Sources(flat, call)
    sources.own.pushes = True
    output, aux = sources.run(call, (sources.inside,))
    leaves, form = tree_flatten(output)

    with using(grad=True):
        seeds = Sources([zeros_like(out.detach()) for out in leaves])
        back = sources.pull(leaves, list(seeds.inside), keep=True, create_graph=True)
        found = seeds.pull(back, list(pushed), keep=True)
    return sources.results(output), tree_unflatten([sources._result(f) for f in found], form), sources.results(aux)


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """Return the outputs of a function, and its Jacobian at `primals` as a linear function of tangents.

    The function is run once. The result of `jvp_fn(*tangents)` has the structure of the output.

    Args:
        primals: the arguments of the function: tensors, or structures of them.

    Raises:
        RuntimeError: if the function returns nothing; called, if tangents differ from the primals in structure, shape,
            device or dtype.

    Example::

        >>> import gradpack as torch
        >>> out, push = torch.func.linearize(torch.sin, torch.zeros(2))
        >>> push(torch.ones(2))
        tensor([1., 1.])
    """
    from ..ops.create.fill_like import zeros_like

    flat, form = tree_flatten(primals)
    sources = Sources(flat, func)
    output = sources.run(func, tree_unflatten(sources.inside, form))
    every, out_form = tree_flatten(output)
    if not every:
        raise RuntimeError(f"Expected f to be a function that has non-empty output (got output = {output})")
    places = [i for i, out in enumerate(every) if isinstance(out, Tensor) and out._spec.dtype.category >= FLOATING]
    leaves = [every[i] for i in places]
    with using(grad=True):
        seeds = Sources([zeros_like(out.detach()) for out in leaves])
        back = sources.pull(leaves, list(seeds.inside), keep=True, create_graph=True)

    def jvp_fn(*tangents: Any) -> Any:
        pushed, tangent_form = tree_flatten(tangents)
        if tangent_form != form:
            raise RuntimeError(f"Expected the tangents {tangent_form} to have the same argspec as the primals {form}")
        for idx, (x, t) in enumerate(zip(flat, pushed, strict=True)):
            for what in ("shape", "device", "dtype"):
                theirs, own = getattr(t, what), getattr(x, what)
                if theirs != own:
                    raise RuntimeError(
                        f"tangent:{idx} with {what} {theirs} in flattened pytree doesn't match the {what} {own} of the "
                        "corresponding primal."
                    )
        found = [zeros_like(out) if isinstance(out, Tensor) else out for out in every]
        for i, slope in zip(places, seeds.pull(back, list(pushed), keep=True), strict=True):
            found[i] = sources._result(slope)
        return tree_unflatten(found, out_form)

    return sources.results(output), jvp_fn
