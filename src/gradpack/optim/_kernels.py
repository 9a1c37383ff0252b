"""Optimizer steps on NumPy arrays, in place: no tensors, hardly any temporaries.

`sgd.py` and `adam.py` say what is computed, as formulas over tensors. This is the same for the
arrays that are by far the most common ones. Every function works through a list of parameters and
returns those that it leaves to the formulas.

Two things make it fast. Scalars become arrays without dimensions once per step, because NumPy
takes twice as long for a Python number. And long arrays are worked on in pieces that stay in the
cache for the dozen passes of one update; pieces also keep the temporaries small.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..backends import NUMPY, Spec
from ..base.dtypes import FLOATING, float32
from ..base.errors import shapes_do_not_broadcast
from ..base.pool import split
from ..core.tensor import Tensor, alias
from ..graph.node import AccumulateGrad
from ..kernels.dispatch import PYTHON, accelerated
from ..ops.create.fill_like import zeros_like

np = NUMPY.xp
add, subtract, multiply, divide = np.add, np.subtract, np.multiply, np.divide
negative, sqrt, maximum = np.negative, np.sqrt, np.maximum

PIECE = 1 << 15  # elements; a handful of arrays of this length share the second-level cache
STEP = NUMPY.spec_for(float32, NUMPY.device_of(None))  # of the step count


def is_ours(spec: Spec) -> bool:
    """Whether the functions here support these arrays."""
    return spec.numpy and spec.dtype.category >= FLOATING


def constants(spec: Spec, *values: float) -> list[Any]:
    """The values as arrays without dimensions, in the precision that arrays of `spec` are computed in."""
    native = NUMPY.native_of(float32 if spec.dtype.low else spec.dtype.to_real())
    return [np.array(value, native) for value in values]


def through_float32(update: Callable[..., None], given: list[Any], *arrays: Any) -> None:
    """`update` on copies in float32, which are then rounded into the arrays: low precision is for storage."""
    wide = [None if x is None else x.astype(np.float32) for x in arrays]
    update(given, *wide)
    for i, x in enumerate(arrays):
        if x is not None and i != 1:  # the second is the gradient, which stays
            x[...] = wide[i]


def in_pieces(spec: Spec, update: Callable[..., None], given: Any, *arrays: Any) -> None:
    """`update(given, *arrays)`, piece by piece if the arrays are long. None among them stays None."""
    _of_pieces(partial(through_float32, update) if spec.dtype.low else update, given, *arrays)


def _of_pieces(update: Callable[..., None], given: Any, *arrays: Any) -> None:
    for piece in _pieces(arrays):
        update(given, *piece)


def _pieces(arrays: Any) -> list[Any]:
    """Return the arrays in pieces, of the same elements of each."""
    first = arrays[0]
    if not first.ndim:  # NumPy would give scalars, which cannot be written to
        arrays = [None if x is None else x.reshape(1) for x in arrays]
    if first.size <= PIECE or not all(x is None or x.flags.c_contiguous for x in arrays):
        return [arrays]
    flat = [None if x is None else x.reshape(-1) for x in arrays]
    return [[None if x is None else x[i : i + PIECE] for x in flat] for i in range(0, first.size, PIECE)]


def _of_all(update: Callable[..., None], given: Any, batch: list[Any], count: int, total: int) -> None:
    """Call `update(given, *arrays)` for the pieces of all parameters, over all cores if there are many elements."""
    if total < 2 * PYTHON:
        for i in range(0, len(batch), count):
            _of_pieces(update, given, *batch[i : i + count])
        return
    pieces = [piece for i in range(0, len(batch), count) for piece in _pieces(batch[i : i + count])]

    def work(low: int, high: int) -> None:
        for piece in pieces[low:high]:
            update(given, *piece)

    split(work, len(pieces), max(1, PYTHON * len(pieces) // max(total, 1)))


def drop_gradients(params: list[Tensor]) -> None:
    """Set `.grad` of each to None."""
    for p in params:
        edge = p._edge
        if type(edge) is AccumulateGrad:
            edge.grad = None
        else:
            p.grad = None


# --- SGD ---


def descend(params: list[Tensor], lr: float) -> list[Tensor]:
    """p -= lr * grad."""
    rest: list[Tensor] = []
    spec: Any = None
    rate: Any = None
    batch: list[Any] = []  # arrays of parameters of one dtype
    for p in params:
        edge = p._edge
        grad = edge.grad if type(edge) is AccumulateGrad else p.grad
        if grad is None:
            continue
        if p._spec is not spec:
            if not is_ours(p._spec):
                rest.append(p)
                continue
            _descend_all(batch, spec, lr)
            spec = p._spec
            (rate,) = constants(spec, lr)
        data = p._data
        if grad._spec is not spec or not data.flags.writeable:
            rest.append(p)
            continue
        if grad._shape != p._shape:
            _descend_all(batch, spec, lr)
            raise shapes_do_not_broadcast("SGD.step", p._shape, grad._shape)
        p._counter[0] += 1
        if data.size < _FEW and spec.plain:
            subtract(data, multiply(grad._data, rate), data)
        elif spec.plain:
            batch += data, grad._data, None
        else:
            in_pieces(spec, _descend, rate, data, grad._data)
    _descend_all(batch, spec, lr)
    return rest


def _descend(rate: Any, data: Any, grad: Any) -> None:
    subtract(data, multiply(grad, rate), data)


_FEW = 1 << 12  # elements: to update them takes less time than to put them into a batch
_PLAIN = {"maximize": False, "weight_decay": 0, "dampening": 0, "nesterov": False}


def _descend_all(batch: list[Any], spec: Spec, lr: float) -> None:
    if batch:
        _update_all(sgd_updates, batch, 3, [_PLAIN, *constants(spec, lr, 0, 0, 1), False])


def _update_all(update: Callable[..., None], batch: list[Any], count: int, given: list[Any]) -> None:
    """Call the update of a list of arrays, so many for each parameter, and empty it."""
    data = batch[::count]
    if len({id(a) for a in data}) < len(data):  # a parameter that is there twice is updated twice
        for i, each in enumerate(data):
            update(batch[count * i : count * (i + 1)], given, each.size)
    elif data:
        update([*batch], given, sum([a.size for a in data]))
    batch.clear()


def sgd(params: list[Tensor], state: Any, options: dict[str, Any]) -> list[Tensor]:
    """SGD with all its options."""
    rest: list[Tensor] = []
    spec: Any = None
    factors: Any = None
    batches: dict[bool, list[Any]] = {False: [], True: []}  # by whether it is the first step

    def update_all() -> None:
        for first, batch in batches.items():
            _update_all(sgd_updates, batch, 3, [options, *(factors or ()), first])

    for p in params:
        grad = p.grad
        if grad is None:
            continue
        if p._spec is not spec:
            if not is_ours(p._spec):
                rest.append(p)
                continue
            update_all()
            spec = p._spec
            names = ("lr", "weight_decay", "momentum")
            factors = [*constants(spec, *[options[name] for name in names], 1 - options["dampening"])]
        if grad._spec is not spec or not p._data.flags.writeable:
            rest.append(p)
            continue
        if grad._shape != p._shape:
            update_all()
            raise shapes_do_not_broadcast("SGD.step", p._shape, grad._shape)
        buffer, first = None, False
        if options["momentum"]:
            own = state[p]
            buffer = own.get("momentum_buffer")
            if buffer is None:
                first = True
                buffer = own["momentum_buffer"] = alias(np.empty_like(p._data), spec, p._shape)
            if buffer._spec is not spec:
                rest.append(p)
                continue
            if buffer._shape != p._shape:
                update_all()
                raise shapes_do_not_broadcast("SGD.step", p._shape, buffer._shape)
            buffer._counter[0] += 1
        p._counter[0] += 1
        arrays = p._data, grad._data, None if buffer is None else buffer._data
        if spec.plain:
            batches[first] += arrays
        else:
            in_pieces(spec, _sgd, [options, *factors, first], *arrays)
    update_all()
    return rest


@partial(accelerated, size="a2")
def sgd_updates(batch: list[Any], given: list[Any], total: int) -> None:
    """Update parameters and their momentum buffers in place.

    Args:
        batch: the parameter, its gradient and its buffer or None, one after another.
        given: the options, the numbers of a step, and whether it is the first.
        total: how many elements the parameters have together.
    """
    _of_all(_sgd, given, batch, 3, total)


def _sgd(given: list[Any], data: Any, grad: Any, buffer: Any) -> None:
    options, lr, weight_decay, momentum, undamped, first = given
    if options["maximize"]:
        grad = negative(grad)
    if options["weight_decay"]:
        decay = multiply(data, weight_decay)
        grad = add(decay, grad, decay)
    if buffer is not None:
        if first:
            buffer[...] = grad
        else:
            multiply(buffer, momentum, buffer)
            add(buffer, multiply(grad, undamped) if options["dampening"] else grad, buffer)
        grad = add(grad, multiply(buffer, momentum)) if options["nesterov"] else buffer
    subtract(data, multiply(grad, lr), data)


# --- Adam ---


def adam(params: list[Tensor], state: Any, options: dict[str, Any]) -> list[Tensor]:
    """Adam and AdamW with all their options."""
    rest: list[Tensor] = []
    known: Any = None
    given: Any = None
    batch: list[Any] = []  # arrays of parameters of one dtype, after as many steps
    for p in params:
        grad = p.grad
        if grad is None:
            continue
        spec = p._spec
        own = state[p]
        if not own:
            start_adam(p, own, options["amsgrad"])
        buffers = [own["exp_avg"], own["exp_avg_sq"]]
        if options["amsgrad"]:
            buffers.append(own["max_exp_avg_sq"])
        count = own["step"]
        if (
            not is_ours(spec)
            or not p._data.flags.writeable
            or count._spec is not STEP
            or [b for b in (grad, *buffers) if b._spec is not spec]
        ):
            rest.append(p)
            continue
        wrong = [b for b in (grad, *buffers) if b._shape != p._shape]
        if wrong:
            _update_all(adam_updates, batch, 5, given)
            raise shapes_do_not_broadcast("Adam.step", p._shape, wrong[0]._shape)
        count._data[()] += 1
        count._counter[0] += 1
        step = count._data.item()
        if known != (spec, step):
            _update_all(adam_updates, batch, 5, given)
            known = (spec, step)
            given = _adam_constants(spec, step, options)
        p._counter[0] += 2 if options["weight_decay"] and options["decoupled_weight_decay"] else 1  # writes of torch's
        for b in buffers:
            b._counter[0] += 1
        arrays = [p._data, grad._data, *[b._data for b in buffers]]
        if spec.dtype.is_complex:
            in_pieces(spec, _adam, given, *[x.real for x in arrays])
            in_pieces(spec, _adam, given, *[x.imag for x in arrays])
        elif spec.dtype.low:
            in_pieces(spec, _adam, given, *arrays)
        else:
            batch += arrays if options["amsgrad"] else (*arrays, None)
    _update_all(adam_updates, batch, 5, given)
    return rest


@partial(accelerated, size="a2")
def adam_updates(batch: list[Any], given: list[Any], total: int) -> None:
    """Update parameters and their averages in place.

    Args:
        batch: the parameter, its gradient, its two averages and the largest of the second or None, one after another.
        given: what `_adam_constants` returns.
        total: how many elements the parameters have together.
    """
    _of_all(_adam, given, batch, 5, total)


def start_adam(p: Tensor, own: dict[str, Any], amsgrad: bool) -> None:
    """Make the initial Adam state of a parameter."""
    own["step"] = alias(np.zeros((), STEP.native), STEP, ())
    for name in ("exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if amsgrad else [])):
        own[name] = zeros_like(p.detach())


def _adam_constants(spec: Spec, step: float, options: dict[str, Any]) -> list[Any]:
    """Return all factors of a step. Bias corrections are folded into the learning rate and epsilon."""
    beta1, beta2 = options["betas"]
    root = (1 - beta2**step) ** 0.5
    return [
        options,
        *constants(
            spec,
            1 - options["lr"] * options["weight_decay"],
            options["weight_decay"],
            beta1 if beta1 <= 0.5 else 1 - beta1,
            beta2,
            1 - beta2,
            options["eps"] * root,
            options["lr"] * root / (1 - beta1**step),
        ),
    ]


def _adam(given: list[Any], data: Any, grad: Any, mean: Any, square: Any, largest: Any = None) -> None:
    options, shrink, weight_decay, smaller_beta1, beta2, one_minus_beta2, eps, rate = given
    if options["maximize"]:
        grad = negative(grad)
    if options["weight_decay"]:
        if options["decoupled_weight_decay"]:
            multiply(data, shrink, data)
        else:
            decay = multiply(data, weight_decay)
            grad = add(decay, grad, decay)
    work = subtract(grad, mean)
    multiply(work, smaller_beta1, work)
    if options["betas"][0] <= 0.5:  # from the nearer end, which keeps the digits of a small gradient
        subtract(grad, work, mean)
    else:
        add(mean, work, mean)
    multiply(grad, grad, work)
    multiply(work, one_minus_beta2, work)
    multiply(square, beta2, square)
    add(square, work, square)
    if largest is not None:
        square = maximum(largest, square, out=largest)  # by name: this one ufunc insists
    sqrt(square, work)
    add(work, eps, work)
    divide(mean, work, work)
    multiply(work, rate, work)
    subtract(data, work, data)
