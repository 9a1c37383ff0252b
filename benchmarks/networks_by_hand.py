"""Optimizers, losses and a GPT in plain NumPy, derivatives written by hand, for `benchmarks.steps_by_hand`."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any
Gradients = Callable[[], tuple[Any, list[Array]]]  # the loss, and the gradient of each parameter


def numbers(*shape: int, seed: int = 0, scale: float = 1.0) -> Array:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def weights(shapes: list[tuple[int, ...]], ones: tuple[int, ...] = ()) -> list[Array]:
    """Return parameters as `step_programs.filled` gives them; those whose places are in `ones` are ones."""
    found = [numbers(*s, seed=i, scale=0.05 if len(s) > 1 else 0.01) for i, s in enumerate(shapes)]
    for i in ones:
        found[i][:] = 1
    return found


def training(gradients: Gradients, update: Callable[[list[Array]], None]) -> Any:
    def step() -> Any:
        loss, found = gradients()
        update(found)
        return loss

    return step


# -- optimizers --


def sgd(parameters: list[Array], lr: float) -> Callable[[list[Array]], None]:
    """p = p - lr g."""

    def update(gradients: list[Array]) -> None:
        for p, g in zip(parameters, gradients, strict=True):
            p -= lr * g

    return update


def adam(parameters: list[Array], lr: float, decay: float = 0.0) -> Callable[[list[Array]], None]:
    """p = p (1 - lr decay) - lr m' / (sqrt(v') + eps), m' and v' the unbiased means of g and g²."""
    b1, b2, eps, t = 0.9, 0.999, 1e-8, 0
    means = [(np.zeros_like(p), np.zeros_like(p)) for p in parameters]

    def update(gradients: list[Array]) -> None:
        nonlocal t
        t += 1
        for p, g, (m, v) in zip(parameters, gradients, means, strict=True):
            m *= b1
            m += (1 - b1) * g
            v *= b2
            v += (1 - b2) * (g * g)
            down = np.sqrt(v)
            down /= math.sqrt(1 - b2**t)
            down += eps
            np.divide(m, down, out=down)
            down *= lr / (1 - b1**t)
            if decay:
                p *= 1 - lr * decay
            p -= down

    return update


# -- transformers --


def _norm(x: Array, weight: Array, bias: Array) -> tuple[Array, Array, Array]:
    """Return y weight + bias, y and s: y = (x - mean x) s, s = 1 / sqrt(var x + eps)."""
    y = x - x.mean(-1, keepdims=True)
    s = 1 / np.sqrt((y * y).mean(-1, keepdims=True) + np.float32(1e-5))
    y *= s
    out = y * weight
    out += bias
    return out, y, s


def _norm_back(g: Array, weight: Array, y: Array, s: Array) -> tuple[Array, list[Array]]:
    """dx = s (h - mean h - y mean(h y)) with h = g weight; dweight = sum g y, dbias = sum g."""
    h = g * weight
    dx = h - h.mean(-1, keepdims=True)
    dx -= y * (h * y).mean(-1, keepdims=True)
    dx *= s
    return dx, [(g * y).sum(0), g.sum(0)]


def _attention(q: Array, k: Array, v: Array, mask: Array) -> tuple[Array, Array]:
    """Return a v and a = softmax(q kᵀ / sqrt(d) + mask)."""
    a = q @ k.swapaxes(-1, -2)
    a *= q.shape[-1] ** -0.5
    a += mask
    a -= a.max(-1, keepdims=True)
    np.exp(a, out=a)
    a /= a.sum(-1, keepdims=True)
    return a @ v, a


def _attention_back(g: Array, q: Array, k: Array, v: Array, a: Array) -> Array:
    """Return (dq, dk, dv): dv = aᵀ g; da = g vᵀ; ds = a (da - sum(a da)) / sqrt(d); dq = ds k, dk = dsᵀ q."""
    found = np.empty((3, *q.shape), q.dtype)
    np.matmul(a.swapaxes(-1, -2), g, out=found[2])
    ds = g @ v.swapaxes(-1, -2)
    ds -= (ds * a).sum(-1, keepdims=True)
    ds *= a
    ds *= q.shape[-1] ** -0.5
    np.matmul(ds, k, out=found[0])
    np.matmul(ds.swapaxes(-1, -2), q, out=found[1])
    return found


def _gelu_tanh(h: Array) -> tuple[Array, Array]:
    """Return y = h (1 + t) / 2, t = tanh(c (h + b h³)), and dy/dh = (1 + t + h (1 - t²) c (1 + 3 b h²)) / 2."""
    c, square = 0.7978845608, h * h
    t = np.tanh(c * h * (1 + 0.044715 * square))
    slope = (1 - t * t) * h
    slope *= c + (c * 3 * 0.044715) * square
    t += 1
    slope += t
    slope *= 0.5
    t *= h
    t *= 0.5
    return t, slope


def _gelu(h: Array) -> tuple[Array, Array]:
    """Return y = h Φ(h) and dy/dh = Φ(h) + h φ(h), Φ to 2e-7 by Abramowitz and Stegun 7.1.26 (NumPy has no erf)."""
    e = np.exp(-0.5 * h * h)
    t = 1 / (1 + (0.3275911 * math.sqrt(0.5)) * np.abs(h))
    tail = 1.061405429 * t
    for c in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += c
        tail *= t
    tail *= e
    tail *= 0.5
    phi = np.where(h > 0, 1 - tail, tail)
    e *= h
    e *= (2 * math.pi) ** -0.5
    e += phi
    phi *= h
    return phi, e


def cross_entropy(out: Array, y: Array) -> tuple[Any, Array]:
    """Return -mean log p[y], p = softmax(out), and dout = (p - onehot(y)) / n."""
    n, rows = len(y), np.arange(len(y))
    p = out - out.max(-1, keepdims=True)
    picked = p[rows, y]
    np.exp(p, out=p)
    sums = p.sum(-1, keepdims=True)
    loss = (np.log(sums[:, 0]) - picked).mean()
    p /= sums
    p[rows, y] -= 1
    p *= np.float32(1 / n)
    return loss, p


def gpt_weights(layers: int, width: int, length: int) -> list[Array]:
    """Return the parameters of `step_programs._gpt`: token, place, twelve of each block, norm, head."""
    w = width
    block = [(w,), (w,), (w,), (w,), (3 * w, w), (3 * w,), (w, w), (w,), (4 * w, w), (4 * w,), (w, 4 * w), (w,)]
    norms = [2 + 12 * i for i in range(layers + 1)] + [4 + 12 * i for i in range(layers)]
    shapes: list[tuple[int, ...]] = [(65, w), (length, w), *(block * layers), (w,), (w,), (65, w), (65,)]
    return weights(shapes, ones=tuple(norms))


def gpt(layers: int, width: int, length: int, batch: int, fused: bool) -> tuple[list[Array], Gradients]:
    """Return the parameters and the gradients of a GPT of pre-norm blocks, 4 heads.

    x = token + place; a block: x += attention(norm(x)), x += down(gelu(up(norm(x)))); head(norm(x)); cross entropy.
    """
    heads, vocabulary, w = 4, 65, width
    P = gpt_weights(layers, width, length)
    firsts = [2 + 12 * i for i in range(layers + 1)]
    r = np.random.default_rng(1)
    tokens, targets = (r.integers(0, vocabulary, (batch, length)).reshape(-1) for _ in range(2))
    mask = np.triu(np.full((length, length), -np.inf, np.float32), 1)
    gelu = _gelu if fused else _gelu_tanh
    split = (batch, length, 3, heads, w // heads)

    def forward(x: Array, p: list[Array]) -> tuple[Array, tuple[Array, ...]]:
        h, *first = _norm(x, p[0], p[1])
        q, k, v = np.ascontiguousarray((h @ p[4].T + p[5]).reshape(split).transpose(2, 0, 3, 1, 4))
        y, a = _attention(q, k, v, mask)
        y = y.transpose(0, 2, 1, 3).reshape(-1, w)
        x = x + y @ p[6].T
        x += p[7]
        h2, *second = _norm(x, p[2], p[3])
        u = h2 @ p[8].T
        u += p[9]
        u, slope = gelu(u)
        x = x + u @ p[10].T
        x += p[11]
        return x, (h, first, q, k, v, a, y, h2, second, u, slope)

    def backward(g: Array, p: list[Array], kept: tuple[Array, ...]) -> tuple[Array, list[Array]]:
        h, first, q, k, v, a, y, h2, second, u, slope = kept
        down = [g.T @ u, g.sum(0)]
        du = g @ p[10]
        du *= slope
        up = [du.T @ h2, du.sum(0)]
        dx, n2 = _norm_back(du @ p[8], p[2], *second)
        g = g + dx
        out = [g.T @ y, g.sum(0)]
        dy = np.ascontiguousarray((g @ p[6]).reshape(batch, length, heads, -1).transpose(0, 2, 1, 3))
        dqkv = _attention_back(dy, q, k, v, a).transpose(1, 3, 0, 2, 4).reshape(-1, 3 * w)
        dx, n1 = _norm_back(dqkv @ p[4], p[0], *first)
        return g + dx, [*n1, *n2, dqkv.T @ h, dqkv.sum(0), *out, *up, *down]

    def gradients() -> tuple[Any, list[Array]]:
        x = (P[0][tokens].reshape(batch, length, w) + P[1]).reshape(-1, w)
        kept = []
        for i in firsts[:-1]:
            x, one = forward(x, P[i : i + 12])
            kept.append(one)
        n, head, bias = firsts[-1], P[-2], P[-1]
        h, *last = _norm(x, P[n], P[n + 1])
        loss, dout = cross_entropy(h @ head.T + bias, targets)
        found = [dout.T @ h, dout.sum(0)]
        g, norm = _norm_back(dout @ head, P[n], *last)
        found = norm + found
        for i, one in zip(firsts[-2::-1], reversed(kept), strict=True):
            g, more = backward(g, P[i : i + 12], one)
            found = more + found
        onehot = (tokens == np.arange(vocabulary)[:, None]).astype(np.float32)
        return loss, [onehot @ g, g.reshape(batch, length, w).sum(0), *found]

    return P, gradients
