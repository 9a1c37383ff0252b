"""The steps of `benchmarks.step_programs` in plain NumPy: forward and derivatives written by hand, without a tape.

As one would write them who knows the mathematics and does not tune: matrix products on matrices of two dimensions,
elementwise work in place where it is obvious. Weights and inputs are those of `step_programs`. The formulas name
gradients of the loss by a leading d: dx is the gradient of x.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.networks_by_hand import Array, adam, cross_entropy, gpt, numbers, sgd, training, weights
from benchmarks.step_programs import OPS

# -- networks --


def gpt_elementary() -> Any:
    P, gradients = gpt(4, 128, 128, 8, fused=False)
    return training(gradients, sgd(P, 0.01))


def gpt_hooks() -> Any:
    """The same: what identity hooks cost is nothing by hand."""
    return gpt_elementary()


def gpt_fused() -> Any:
    P, gradients = gpt(4, 128, 128, 8, fused=True)
    return training(gradients, adam(P, 1e-3, 0.01))


def gpt_wide() -> Any:
    P, gradients = gpt(6, 256, 128, 8, fused=True)
    return training(gradients, adam(P, 1e-3, 0.01))


def _columns(x: Array) -> Array:
    """Return the 3x3 windows around each pixel of images (n, h, w, c), zeros outside, as rows (n h w, 9 c)."""
    n, h, w, c = x.shape
    padded = np.zeros((n, h + 2, w + 2, c), x.dtype)
    padded[:, 1:-1, 1:-1] = x
    found = np.empty((n, h, w, 9, c), x.dtype)
    for k in range(9):
        found[:, :, :, k] = padded[:, k // 3 : k // 3 + h, k % 3 : k % 3 + w]
    return found.reshape(-1, 9 * c)


def _columns_back(g: Array, n: int, h: int, w: int) -> Array:
    """Return the gradient of the images from that of their windows: nine shifted sums."""
    g = g.reshape(n, h, w, 9, -1)
    found = np.zeros((n, h + 2, w + 2, g.shape[-1]), g.dtype)
    for k in range(9):
        found[:, k // 3 : k // 3 + h, k % 3 : k % 3 + w] += g[:, :, :, k]
    return found[:, 1:-1, 1:-1]


def convolution() -> Any:
    """conv, max-pool, relu, twice (relu and max change places), then a matrix; images are (n, h, w, c) inside."""
    P = weights([(16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (10, 32 * 49), (10,)])
    x = numbers(64, 1, 28, 28).reshape(64, 28, 28, 1)
    y = np.random.default_rng(1).integers(0, 10, 64)

    def forward(x: Array, weight: Array, bias: Array) -> tuple[Array, tuple[Array, ...]]:
        n, h, w, _ = x.shape
        columns, matrix = _columns(x), weight.transpose(2, 3, 1, 0).reshape(-1, len(weight))
        z = (columns @ matrix + bias).reshape(n, h // 2, 2, w // 2, 2, -1)
        return np.maximum(z.max((2, 4)), 0), (columns, matrix, z)

    def backward(g: Array, out: Array, kept: tuple[Array, ...]) -> tuple[Array, list[Array]]:
        """dz = g where z is its window's maximum and positive; dmatrix = columnsᵀ dz, dcolumns = dz matrixᵀ."""
        columns, _, z = kept
        dz = np.where(z == out[:, :, None, :, None], (g * (out > 0))[:, :, None, :, None], np.float32(0))
        dz = dz.reshape(len(columns), -1)
        dweight = (columns.T @ dz).reshape(3, 3, -1, dz.shape[1]).transpose(3, 2, 0, 1)
        return dz, [dweight, dz.sum(0)]

    def gradients() -> tuple[Any, list[Array]]:
        a, kept_a = forward(x, P[0], P[1])
        b, kept_b = forward(a, P[2], P[3])
        flat = b.transpose(0, 3, 1, 2).reshape(64, -1)
        loss, dout = cross_entropy(flat @ P[4].T + P[5], y)
        db = (dout @ P[4]).reshape(64, 32, 7, 7).transpose(0, 2, 3, 1)
        dz, second = backward(db, b, kept_b)
        _, first = backward(_columns_back(dz @ kept_b[1].T, 64, 14, 14), a, kept_a)
        return loss, [*first, *second, dout.T @ flat, dout.sum(0)]

    return training(gradients, sgd(P, 0.01))


def _mlp(sizes: tuple[int, ...], batch: int, optimizer: Callable[..., Any]) -> Any:
    """h = tanh(W h + b) but for the last layer, mean squared error; dz = dh (1 - h²), dW = dzᵀ h, dh = dz W."""
    P = weights([s for a, b in pairwise(sizes) for s in ((b, a), (b,))])
    x, y = numbers(batch, sizes[0]), numbers(batch, sizes[-1], seed=1)

    def gradients() -> tuple[Any, list[Array]]:
        kept, last = [x], len(P) - 2
        for i in range(0, len(P), 2):
            z = kept[-1] @ P[i].T
            z += P[i + 1]
            kept.append(z if i == last else np.tanh(z, out=z))
        error = kept.pop() - y
        g = error * np.float32(2 / error.size)
        found: list[Array] = []
        for i in range(last, -1, -2):
            h = kept.pop()
            found[:0] = [g.T @ h, g.sum(0)]
            if i:
                g = g @ P[i]
                g *= 1 - h * h
        return np.square(error).mean(), found

    return training(gradients, optimizer(P, 1e-3))


def mlp_tiny() -> Any:
    return _mlp((16, 32, 32, 1), 32, sgd)


def mlp_adam() -> Any:
    return _mlp((64, 256, 256, 10), 64, adam)


def lstm() -> Any:
    """Gates i, f, o = sigmoid, u = tanh of W x + V h + b; c = f c' + i u, h = o tanh(c); loss: mean h² at the end.

    Backward: do = dh tanh(c), dc += dh o (1 - tanh² c), di = dc u, du = dc i, df = dc c', dc' = dc f; each gate's
    gradient times its slope; dh' = dgates V. Products with W and those that give dW and dV are one for all times.
    """
    T, B, H = 64, 32, 64
    P = weights([(4 * H, 32), (4 * H, H), (4 * H,), (4 * H,)])
    x = numbers(T, B, 32).reshape(T * B, 32)

    def gradients() -> tuple[Any, list[Array]]:
        W, V, first, second = P
        gates = (x @ W.T + (first + second)).reshape(T, B, 4, H)
        h, c, tanh_c = np.zeros((T + 1, B, H), np.float32), np.zeros((T + 1, B, H), np.float32), []
        for t in range(T):
            z = gates[t]
            z += (h[t] @ V.T).reshape(B, 4, H)
            z[:, 2] *= 2  # tanh(x) = 2 sigmoid(2 x) - 1
            np.negative(z, out=z)
            np.exp(z, out=z)
            z += 1
            np.divide(1, z, out=z)
            z[:, 2] *= 2
            z[:, 2] -= 1
            c[t + 1] = z[:, 1] * c[t] + z[:, 0] * z[:, 2]
            tanh_c.append(np.tanh(c[t + 1]))
            np.multiply(z[:, 3], tanh_c[t], out=h[t + 1])
        slopes = gates * (1 - gates)
        slopes[:, :, 2] = 1 - gates[:, :, 2] ** 2
        dh, dc = h[T] * np.float32(2 / h[T].size), np.float32(0)
        for t in reversed(range(T)):
            i, f, u, o = gates[t].swapaxes(0, 1)
            dc = dc + dh * o * (1 - tanh_c[t] * tanh_c[t])
            g = slopes[t]
            g[:, 0] *= dc * u
            g[:, 1] *= dc * c[t]
            g[:, 2] *= dc * i
            g[:, 3] *= dh * tanh_c[t]
            dh, dc = g.reshape(B, 4 * H) @ V, dc * f
        g = slopes.reshape(T * B, 4 * H)
        bias = g.sum(0)
        return np.square(h[T]).mean(), [g.T @ x, g.T @ h[:T].reshape(T * B, H), bias, bias]

    return training(gradients, sgd(P, 0.01))


def logistic() -> Any:
    """Loss mean(max(z, 0) - z y + log(1 + exp(-|z|))), z = x w; dw = xᵀ (sigmoid(z) - y) / n; w = w - 0.1 dw."""
    x, w = numbers(100_000, 50), np.zeros(50, np.float32)
    y = (x[:, 0] > 0).astype(np.float32)

    def step() -> Any:
        z = x @ w
        e = np.exp(-np.abs(z))
        (np.maximum(z, 0) - z * y + np.log1p(e)).mean()
        g = np.where(z > 0, 1, e) / (1 + e)
        g -= y
        g *= np.float32(1 / len(y))
        dw = g @ x
        w[:] -= 0.1 * dw
        return dw

    return step


def neural_ode() -> Any:
    """z' = f(z) = W2 tanh(W1 z + b1) + b2, twenty steps of Runge and Kutta's fourth order; mean squared error.

    z' = z + dt/6 (k1 + 2 k2 + 2 k3 + k4), and ki = f(z + a dt k(i-1)), a = 0, 1/2, 1/2, 1. Backward: dki starts as
    dt/6, dt/3, dt/3, dt/6 of dz', and what ki's argument gets, d, goes to dz and, times a dt, to dk(i-1).
    """
    P = weights([(32, 2), (32,), (2, 32), (2,)])
    x, y, dt = numbers(16, 2), numbers(16, 2, seed=1), 0.05
    stages = ((0.0, dt / 6), (dt / 2, dt / 3), (dt / 2, dt / 3), (dt, dt / 6))

    def gradients() -> tuple[Any, list[Array]]:
        W1, b1, W2, b2 = P
        kept, z = [], x
        for _ in range(20):
            after, k = z, z
            for a, weight in stages:
                at = z + a * k if a else z
                h = np.tanh(at @ W1.T + b1)
                k = h @ W2.T + b2
                after = after + weight * k
                kept.append((at, h))
            z = after
        error = z - y
        g = error * np.float32(2 / error.size)
        points, hidden = [at for at, _ in kept], [h for _, h in kept]
        outs: list[Array] = []
        ins: list[Array] = []
        for _ in range(20):
            dz, further = g, np.float32(0)
            for a, weight in reversed(stages):
                h = hidden[-1 - len(outs)]
                dk = weight * g + further
                dh = dk @ W2
                dh *= 1 - h * h
                d = dh @ W1
                dz = dz + d
                further = a * d
                outs.append(dk)
                ins.append(dh)
            g = dz
        at, h, dk, dh = (np.concatenate(v) for v in (points[::-1], hidden[::-1], outs, ins))
        return np.square(error).mean(), [dh.T @ at, dh.sum(0), dk.T @ h, dk.sum(0)]

    return training(gradients, sgd(P, 0.01))


# -- small tensors, and functions of functions --


def chain() -> Any:
    """y = y b + a, 250 times; dx = b dx as often."""
    x, b, a = (numbers(10, seed=i, scale=1e-3) + c for i, c in enumerate((0.5, 1.0, 0.0)))

    def step() -> Any:
        y = x
        for _ in range(OPS // 2):
            y = y * b + a
        g = np.ones_like(y)
        for _ in range(OPS // 2):
            g *= b
        return g

    return step


def deep() -> Any:
    """y = 1 y, 100,000 times; dx = 1 dx as often."""
    x = np.ones(1, np.float32)

    def step() -> Any:
        y = x
        for _ in range(100_000):
            y = y * 1.0
        g = np.ones_like(y)
        for _ in range(100_000):
            g = g * 1.0
        return g

    return step


def functions() -> Any:
    """y = y w, 1,000 times; dw = dw + dy y, dy = dy w backwards."""
    x, w = np.ones(10, np.float32), np.ones(10, np.float32)

    def step() -> Any:
        kept = [x]
        for _ in range(1000):
            kept.append(kept[-1] * w)
        g, dw = np.ones_like(kept.pop()), np.zeros_like(w)
        while kept:
            dw += g * kept.pop()
            g *= w
        return dw

    return step


def hessian() -> Any:
    """f = sum 100 (x' - x²)² + (1 - x)², x' next: 1200 x² - 400 x' + 2 and 200 on the diagonal, -400 x beside it."""
    x, n = numbers(10), np.arange(9)

    def step() -> Any:
        H = np.zeros((10, 10), np.float32)
        H[n, n] = 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
        H[n + 1, n + 1] += 200
        H[n, n + 1] = H[n + 1, n] = -400 * x[:-1]
        return H

    return step


def jacobian() -> Any:
    """W2 diag(1 - h²) W1, h = tanh(W1 x + b1)."""
    W1, b1, W2, _ = weights([(32, 10), (32,), (10, 32), (10,)])
    x = numbers(10)

    def step() -> Any:
        h = np.tanh(W1 @ x + b1)
        return (W2 * (1 - h * h)) @ W1

    return step


def jvp() -> Any:
    """v = 1.1 cos(x) v, x = 1.1 sin(x), 25 times."""
    start, direction = numbers(100), numbers(100, seed=1)

    def step() -> Any:
        x, v = start, direction
        for _ in range(25):
            x, v = np.sin(x) * 1.1, v * np.cos(x) * 1.1
        return x, v

    return step


def gradcheck() -> Any:
    """Central differences of f = sum tanh(a b) by rows against the derivatives (1 - t²) b and (1 - t²) a."""
    a, b = (numbers(3, 4, seed=i).astype(np.float64) for i in range(2))

    def f() -> Array:
        return np.tanh(a * b).sum(0)

    def numerical(x: Array) -> Array:
        found = np.empty((x.size, 4))
        for i, at in enumerate(np.ndindex(x.shape)):
            was = x[at]
            x[at] = was + 1e-6
            high = f()
            x[at] = was - 1e-6
            found[i] = (high - f()) / 2e-6
            x[at] = was
        return found

    def step() -> Any:
        slope = 1 - np.tanh(a * b) ** 2
        right = True
        for x, other in ((a, b), (b, a)):
            by_hand = np.zeros((3, 4, 4))
            by_hand[:, range(4), range(4)] = slope * other
            right = right and np.allclose(numerical(x), by_hand.reshape(12, 4), rtol=1e-3, atol=1e-5)
        return np.float64(right)

    return step


def elementwise() -> Any:
    """y = e s + r, e = exp(-x²), s = sin x, r = sqrt(x² + 1), f = sum y²; dx = 2 y (e cos x - 2 x e s + x / r)."""
    x = numbers(5_000_000)

    def step() -> Any:
        r = x * x
        e = np.exp(-r)
        r += 1
        np.sqrt(r, out=r)
        es = np.sin(x)
        es *= e
        y = es + r
        np.dot(y, y)
        g = np.cos(x)
        g *= e
        es *= x
        es *= 2
        g -= es
        np.divide(x, r, out=r)
        g += r
        g *= y
        g *= 2
        return g

    return step


STEPS: dict[str, Callable[[], Any]] = {
    f.__name__: f
    for f in (
        gpt_elementary, gpt_hooks, gpt_fused, gpt_wide, convolution, mlp_tiny, mlp_adam, lstm, logistic, neural_ode,
        chain, deep, functions, hessian, jacobian, jvp, gradcheck, elementwise,
    )
}  # fmt: skip
