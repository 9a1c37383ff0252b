"""Connectionist temporal classification: the likelihood of a label sequence, summed over all alignments.

Source: Graves et al., 2006. A label sequence is extended by a blank between all labels; `alpha[t, s]`
is the logarithm of the probability of all ways to be at place `s` of it after time `t`, `beta[t, s]`
that of all ways on from there. Everything is an array over the batch; only time is a loop.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.numpy import as_intp
from ...base import late
from ...base.dtypes import INTEGRAL
from ...base.errors import not_implemented_for
from ...core.tensor import Tensor, wrap
from ...declare.annotations import Array
from ...declare.batching.vmap_fallback import looking_at
from ...declare.decorators import general
from ...declare.dispatch.autocast import in_float32
from ..conv.spatial import is_tracked
from ..create.making import beside
from ..random.floats import host_of
from ..reduce.kernels import _array_type
from .reduction import MEAN, NONE, SUM

FUNCTIONS = "ctc_loss"

_CHECKING = "(while checking arguments for ctc_loss_allocate_outputs)"
_FEW = 512  # elements, for which two calls take less time than a dozen passes
_FAR = -1e30  # the logarithm of zero, where -inf would make nan of differences


def _emitted(log_probs: Any, labels: Any) -> Any:
    """The log-probability of each place of the extended sequences at each time: (T, N, L)."""
    steps, batch, classes = log_probs.shape
    places = as_intp(labels + np.arange(0, batch * classes, classes)[:, None])
    return np.take(np.reshape(log_probs, (steps, batch * classes)), places, axis=1)


def _log_sum(a: Any, b: Any, c: Any, here: Any) -> Any:
    """The logarithm of a sum of exponentials, of which the third counts only `here`."""
    if type(a) is _array_type and a.size < _FEW:
        total = np.logaddexp(a, b)
        return np.logaddexp(total, c, total, where=here)
    c = np.where(here, c, -np.inf)
    top = np.maximum(np.maximum(a, b), c)
    safe = np.where(np.isfinite(top), top, 0)
    return np.log(np.exp(a - safe) + np.exp(b - safe) + np.exp(c - safe)) + safe


def _ends(lengths: Any, places: int, dtype: Any) -> Any:
    """0 at the last label and the blank after it, where an alignment may end; -inf elsewhere."""
    where = np.arange(places)[None]
    return np.where((where == 2 * lengths[:, None]) | (where == 2 * lengths[:, None] - 1), 0, -np.inf).astype(dtype)


def _forward(log_probs: Any, labels: Any, skips: Any, times: Any, lengths: Any) -> tuple[Any, Any]:
    emitted = _emitted(log_probs, labels)
    steps, batch, places = emitted.shape
    wide = np.full((steps, batch, places + 2), -np.inf, log_probs.dtype)  # where nothing comes from, before the first
    alpha = wide[:, :, 2:]
    alpha[:1, :, :2] = emitted[:1, :, :2]
    for t in range(1, steps):
        a = wide[t - 1]
        alpha[t] = _log_sum(a[:, 2:], a[:, 1:-1], a[:, :-2], skips) + emitted[t]
    last = alpha[np.maximum(times, 1) - 1, np.arange(len(times))] + _ends(lengths, labels.shape[1], log_probs.dtype)
    top = np.max(last, axis=1)
    safe = np.where(np.isfinite(top), top, 0)
    loss = -(np.log(np.sum(np.exp(last - safe[:, None]), axis=1)) + safe)
    return alpha, np.where(times == 0, np.where(lengths == 0, 0, np.inf), loss).astype(log_probs.dtype)


def _gradients(
    g: Any, log_probs: Any, labels: Any, skips: Any, times: Any, lengths: Any, zero_infinity: bool, alpha: Any,
    loss: Any, needs: Any,
) -> Any:  # fmt: skip
    """Minus the probability of each label at each time, given the whole sequence."""
    if not needs[0]:
        return None, g
    emitted = _emitted(log_probs, labels)
    steps, batch, classes = log_probs.shape
    wide = np.full((steps, batch, labels.shape[1] + 2), -np.inf, log_probs.dtype)  # the same behind the last
    beta, b = wide[:, :, :-2], wide[0]
    ends = _ends(lengths, labels.shape[1], log_probs.dtype)
    forwards = np.concatenate((skips[:, 2:], np.zeros((batch, min(2, skips.shape[1])), bool)), axis=1)
    last = (np.arange(1, steps + 1)[:, None] == times)[:, :, None]
    for t in range(steps - 1, -1, -1):
        found = _log_sum(b[:, :-2], b[:, 1:-1], b[:, 2:], forwards)
        beta[t] = np.where(last[t], ends, found) + emitted[t]
        b = wide[t]
    share = alpha + beta - emitted + loss[None, :, None]
    share = np.where(np.isneginf(alpha) | np.isneginf(beta), -np.inf, share)
    share = np.exp(share) * -g[None, :, None]
    within = np.arange(steps)[:, None] < times[None]
    share = np.where(within[:, :, None] & np.isfinite(share), share, 0)
    rows = np.arange(steps * batch).reshape(steps, batch, 1) * classes
    places = as_intp((rows + labels[None]).reshape(-1))
    total = np.bincount(places, share.reshape(-1), minlength=steps * batch * classes)
    total = total.reshape(log_probs.shape).astype(log_probs.dtype)
    if not zero_infinity:
        total[within & np.isinf(loss)] = np.nan  # there is no probability to share out
    return total, g


def _meaning(log_probs: Any, labels: Any, skips: Any, times: Any, lengths: Any, zero_infinity: bool) -> Any:
    """The same, composed of other operations."""
    steps, (batch, places) = log_probs.shape[0], labels.shape
    emitted = late.gather(log_probs, 2, late.expand(wrap(labels._data[None]), (steps, batch, places)))
    native = log_probs._spec.native
    far = wrap(np.full((batch, 2), _FAR, native))
    jump = wrap(np.where(skips._data, 0, _FAR).astype(native))
    start = np.where(np.arange(places) < 2, 0, _FAR).astype(native)
    a = emitted[0] + wrap(np.broadcast_to(start, (batch, places)))
    reached = [a]
    for t in range(1, steps):
        one, two = late.cat((far[:, :1], a[:, : places - 1]), 1), late.cat((far, a), 1)[:, :places] + jump
        a = late.logsumexp(late.stack((a, one, two)), 0) + emitted[t]
        reached.append(a)
    at = np.broadcast_to((np.maximum(times._data, 1) - 1)[None, :, None], (1, batch, places)).astype(np.int64)
    last = late.gather(late.stack(reached), 0, wrap(at))[0]
    ends = np.maximum(_ends(lengths._data, places, native), _FAR).astype(native)
    loss = -late.logsumexp(last + wrap(ends), 1)
    fixed = np.where(times._data == 0, np.where(lengths._data == 0, 0, np.inf), np.inf).astype(native)
    never = wrap(times._data == 0) | (loss > -_FAR / 2)
    return late.where(never, wrap(fixed), loss)


@general(
    inputs=("log_probs", "mass"),
    joint_vjp=_gradients,
    decomposition=_meaning,
    mass=lambda g: g,
    residuals=("alpha", "loss"),
    promote=("log_probs", "mass"),
    node="CtcLossBackward0",
    dtypes="f",
    name="_ctc_loss",
)
def _ctc(
    log_probs: Array,
    mass: Array,
    labels: Array,
    skips: Array,
    times: Array,
    lengths: Array,
    zero_infinity: bool = False,
) -> Any:
    """The loss of each sequence, plus `mass`."""
    alpha, loss = _forward(log_probs, labels, skips, times, lengths)
    return loss + mass, alpha, loss


@looking_at("targets", "input_lengths", "target_lengths")
@in_float32
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = NONE,
    zero_infinity: bool = False,
) -> Tensor:
    """The negative log likelihood of label sequences, each summed over all its alignments with the input.

    As in torch, the gradient is that for `log_probs` that come from `log_softmax`: it contains the
    term of the normalisation, which `log_softmax` takes away again.

    Args:
        log_probs: logarithms of probabilities, shape (T, N, C) or (T, C).
        targets: labels, shape (N, S), or all of them one after another; no blanks among them.
        input_lengths, target_lengths: shape (N) or (), tensors or tuples.
        blank: the class of the blank.
        reduction: 0 none, 1 mean (of losses divided by target lengths), 2 sum.
        zero_infinity: losses of inf (targets longer than inputs) and their gradients become 0.

    Raises:
        RuntimeError: for lengths that do not fit and a blank that is no class.

    Example::

        >>> import gradpack as torch
        >>> log_probs = torch.zeros(2, 1, 2).log_softmax(-1)
        >>> torch.ctc_loss(log_probs, torch.tensor([[1]]), (2,), (1,))
        tensor([0.2877])
    """
    batched = log_probs.ndim == 3
    if log_probs.ndim == 2:
        log_probs = late.unsqueeze(log_probs, 1)
    if not log_probs.numel():
        raise RuntimeError("log_probs tensor must not be empty")
    if log_probs.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.ndim + 1}-dimensional tensor for argument #1 "
            f"'log_probs' {_CHECKING}"
        )
    if log_probs._spec.dtype.name not in ("float32", "float64"):
        raise not_implemented_for("ctc_loss_cpu", log_probs._spec.dtype)
    if isinstance(input_lengths, Tensor) is not isinstance(target_lengths, Tensor):
        raise TypeError("ctc_loss(): input_lengths and target_lengths must both be Tensors, or both tuples of ints")
    steps, batch, classes = log_probs._shape
    times = _lengths("input_lengths", input_lengths, batch)
    lengths = _lengths("target_lengths", target_lengths, batch)
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    table = _table(targets, lengths)
    for name, found, most in (("input_lengths", times, steps), ("target_lengths", lengths, np.inf)):
        low, high = (int(found.min()), int(found.max())) if batch else (0, 0)
        if low < 0 or high > most:
            bad = f"at least 0, but got value {low}" if low < 0 else f"at most {most}, but got value {high}"
            raise RuntimeError(f"Expected {name} to have value {bad} {_CHECKING}")
    labels = np.full((batch, 2 * table.shape[1] + 1), blank, np.int64)
    labels[:, 1::2] = np.clip(table, 0, classes - 1)
    skips = np.zeros(labels.shape, bool)
    skips[:, 3::2] = labels[:, 3::2] != labels[:, 1:-2:2]
    if is_tracked(log_probs):
        given = beside((np.arange(steps)[:, None] < times[None])[:, :, None].astype(log_probs._spec.native), log_probs)
        mass = late.sum(late.exp(log_probs) * given, (0, 2))
        mass = mass - mass.detach()
    else:
        mass = beside(np.zeros(batch, log_probs._spec.native), log_probs)
    out = _ctc(log_probs, mass, *[beside(a, log_probs) for a in (labels, skips, times, lengths)], zero_infinity)
    if zero_infinity:
        out = late.where(late.eq(out, math.inf), 0.0, out)
    if reduction == MEAN:
        return late.mean(out / beside(np.maximum(lengths, 1).astype(log_probs._spec.native), log_probs))
    if reduction == SUM:
        return late.sum(out)
    return out if batched else late.reshape(out, ())


def _lengths(name: str, value: Any, batch: int) -> Any:
    if isinstance(value, Tensor):
        if value._spec.dtype.category != INTEGRAL:
            raise RuntimeError(f"{name} must be integral")
        found = np.reshape(host_of(value), (-1,))
    else:
        found = np.asarray(value).reshape(-1)
    if found.shape != (batch,):
        raise RuntimeError(f"{name} must be of size batch_size")
    return found.astype(np.int64)


def _table(targets: Tensor, lengths: Any) -> Any:
    """The labels as one row for each sequence, 0 beyond its length."""
    array = host_of(targets).astype(np.int64)
    longest = max(int(lengths.max(initial=0)), 0)
    ending = f"for argument #2 'targets' {_CHECKING}"
    rows = np.zeros((len(lengths), longest), np.int64)
    within = np.arange(longest)[None] < lengths[:, None]
    total = int(np.maximum(lengths, 0).sum()) if array.ndim == 1 else len(lengths)
    if array.ndim not in (1, 2) or array.shape[0] != total:
        raise RuntimeError(
            f"Expected tensor to have size {total} at dimension 0, but got size {array.shape[0]} {ending}"
        )
    if array.ndim == 2 and array.shape[1] < longest:
        raise RuntimeError(
            f"Expected tensor to have size at least {longest} at dimension 1, but got size {array.shape[1]} {ending}"
        )
    rows[within] = array if array.ndim == 1 else array[:, :longest][within]
    return rows
