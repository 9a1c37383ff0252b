"""The steps of `benchmarks.step_programs` in JAX: one function each under `jax.jit`, with gradients and update.

Inputs are arguments, not constants, so that nothing is computed at compile time. Loops that would make long programs
(an LSTM's times, a graph 100,000 deep) are `jax.lax.scan`, as JAX's users write them.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.networks_by_hand import gpt_weights, numbers, weights
from benchmarks.step_programs import OPS

Array = Any
Update = Callable[[list[Array], list[Array], Any], tuple[list[Array], Any]]


def _jitted(f: Callable[..., Any], *data: Any) -> Any:
    """Return a step that calls `f` under jit and waits for what it returns."""
    run, arrays = jax.jit(f), jax.device_put(data)
    return lambda: jax.block_until_ready(run(*arrays))


def _training(P: list[Array], loss: Callable[..., Any], data: tuple[Any, ...], optimizer: tuple[Any, Update]) -> Any:
    """Return a step that computes `loss(P, *data)` and its gradients and updates P, in one jitted function."""
    state, update = optimizer

    @jax.jit
    def run(P: list[Array], state: Any, data: Any) -> tuple[Any, list[Array], Any]:
        value, gradients = jax.value_and_grad(loss)(P, *data)
        return value, *update(P, gradients, state)

    P, state, data = jax.device_put((P, state, data))

    def step() -> Any:
        nonlocal P, state
        value, P, state = jax.block_until_ready(run(P, state, data))
        return value

    return step


def _sgd(lr: float) -> tuple[Any, Update]:
    return (), lambda P, gradients, state: ([p - lr * g for p, g in zip(P, gradients, strict=True)], state)


def _adam(P: list[Array], lr: float, decay: float = 0.0) -> tuple[Any, Update]:
    def update(P: list[Array], gradients: list[Array], state: Any) -> tuple[list[Array], Any]:
        t, M, V = state
        t = t + 1
        M = [0.9 * m + 0.1 * g for m, g in zip(M, gradients, strict=True)]
        V = [0.999 * v + 0.001 * g * g for v, g in zip(V, gradients, strict=True)]
        first, second = 1 - 0.9**t, 1 - 0.999**t
        down = [m / first / (jnp.sqrt(v / second) + 1e-8) for m, v in zip(M, V, strict=True)]
        return [p * (1 - lr * decay) - lr * d for p, d in zip(P, down, strict=True)], (t, M, V)

    zeros = [np.zeros_like(p) for p in P]
    return (np.float32(0), zeros, zeros), update


def _cross_entropy(out: Array, y: Array) -> Array:
    return -jnp.take_along_axis(jax.nn.log_softmax(out), y[:, None], 1).mean()


def _norm(x: Array, weight: Array, bias: Array) -> Array:
    y = x - x.mean(-1, keepdims=True)
    return y / jnp.sqrt((y * y).mean(-1, keepdims=True) + 1e-5) * weight + bias


def _gpt(layers: int, width: int, length: int, batch: int, fused: bool) -> tuple[list[Array], Any, Any]:
    """Return the parameters, the loss of (parameters, mask, tokens, targets), and the last three."""
    heads, w = 4, width

    def attend(x: Array, p: list[Array], mask: Array) -> Array:
        qkv = (x @ p[4].T + p[5]).reshape(batch, length, 3, heads, w // heads)
        if fused:
            y = jax.nn.dot_product_attention(qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2], is_causal=True)
            return y.reshape(batch, length, w) @ p[6].T + p[7]
        q, k, v = qkv.transpose(2, 0, 3, 1, 4)
        a = jax.nn.softmax((q @ k.swapaxes(-2, -1)) * (w // heads) ** -0.5 + mask)
        return (a @ v).transpose(0, 2, 1, 3).reshape(batch, length, w) @ p[6].T + p[7]

    def loss(P: list[Array], mask: Array, tokens: Array, targets: Array) -> Array:
        x = P[0][tokens] + P[1]
        for i in range(2, 2 + 12 * layers, 12):
            p = P[i : i + 12]
            x = x + attend(_norm(x, p[0], p[1]), p, mask)
            h = _norm(x, p[2], p[3]) @ p[8].T + p[9]
            x = x + jax.nn.gelu(h, approximate=not fused) @ p[10].T + p[11]
        out = _norm(x, P[-4], P[-3]) @ P[-2].T + P[-1]
        return _cross_entropy(out.reshape(batch * length, -1), targets.reshape(-1))

    r = np.random.default_rng(1)
    tokens, targets = (r.integers(0, 65, (batch, length)).astype(np.int32) for _ in range(2))
    mask = np.triu(np.full((length, length), -np.inf, np.float32), 1)
    return gpt_weights(layers, width, length), loss, (mask, tokens, targets)


def gpt_elementary() -> Any:
    return _training(*_gpt(4, 128, 128, 8, fused=False), _sgd(0.01))


def gpt_hooks() -> Any:
    """The same: JAX has no hooks."""
    return gpt_elementary()


def gpt_fused() -> Any:
    P, loss, data = _gpt(4, 128, 128, 8, fused=True)
    return _training(P, loss, data, _adam(P, 1e-3, 0.01))


def gpt_wide() -> Any:
    P, loss, data = _gpt(6, 256, 128, 8, fused=True)
    return _training(P, loss, data, _adam(P, 1e-3, 0.01))


def convolution() -> Any:
    P = weights([(16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (10, 32 * 49), (10,)])
    data = numbers(64, 1, 28, 28), np.random.default_rng(1).integers(0, 10, 64).astype(np.int32)

    def loss(P: list[Array], x: Array, y: Array) -> Array:
        for i in (0, 2):
            x = jax.lax.conv_general_dilated(x, P[i], (1, 1), "SAME") + P[i + 1][:, None, None]
            x = jax.lax.reduce_window(jax.nn.relu(x), -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        return _cross_entropy(x.reshape(64, -1) @ P[4].T + P[5], y)

    return _training(P, loss, data, _sgd(0.01))


def _mlp(sizes: tuple[int, ...], batch: int, optimizer: Callable[[list[Array]], tuple[Any, Update]]) -> Any:
    P = weights([s for a, b in pairwise(sizes) for s in ((b, a), (b,))])

    def loss(P: list[Array], x: Array, y: Array) -> Array:
        for i in range(0, len(P) - 2, 2):
            x = jnp.tanh(x @ P[i].T + P[i + 1])
        return ((x @ P[-2].T + P[-1] - y) ** 2).mean()

    return _training(P, loss, (numbers(batch, sizes[0]), numbers(batch, sizes[-1], seed=1)), optimizer(P))


def mlp_tiny() -> Any:
    return _mlp((16, 32, 32, 1), 32, lambda P: _sgd(1e-3))


def mlp_adam() -> Any:
    return _mlp((64, 256, 256, 10), 64, lambda P: _adam(P, 1e-3))


def lstm() -> Any:
    P = weights([(256, 32), (256, 64), (256,), (256,)])

    def loss(P: list[Array], x: Array) -> Array:
        def cell(state: tuple[Array, Array], x: Array) -> tuple[tuple[Array, Array], None]:
            h, c = state
            i, f, u, o = jnp.split(x @ P[0].T + P[2] + h @ P[1].T + P[3], 4, 1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(u)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        zeros = jnp.zeros((32, 64), jnp.float32)
        (h, _), _ = jax.lax.scan(cell, (zeros, zeros), x)
        return (h * h).mean()

    return _training(P, loss, (numbers(64, 32, 32),), _sgd(0.01))


def logistic() -> Any:
    x, w = jax.device_put((numbers(100_000, 50), np.zeros(50, np.float32)))
    y = (x[:, 0] > 0).astype(jnp.float32)

    @jax.jit
    def run(w: Array, x: Array, y: Array) -> tuple[Array, Array]:
        def loss(w: Array) -> Array:
            z = x @ w
            return (jax.nn.softplus(z) - z * y).mean()

        g = jax.grad(loss)(w)
        return g, w - 0.1 * g

    def step() -> Any:
        nonlocal w
        g, w = jax.block_until_ready(run(w, x, y))
        return g

    return step


def neural_ode() -> Any:
    P, dt = weights([(32, 2), (32,), (2, 32), (2,)]), 0.05

    def loss(P: list[Array], x: Array, y: Array) -> Array:
        def net(z: Array) -> Array:
            return jnp.tanh(z @ P[0].T + P[1]) @ P[2].T + P[3]

        def move(z: Array, _: None) -> tuple[Array, None]:
            k1 = net(z)
            k2 = net(z + dt / 2 * k1)
            k3 = net(z + dt / 2 * k2)
            k4 = net(z + dt * k3)
            return z + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        z, _ = jax.lax.scan(move, x, None, 20)
        return ((z - y) ** 2).mean()

    return _training(P, loss, (numbers(16, 2), numbers(16, 2, seed=1)), _sgd(0.01))


def chain() -> Any:
    def f(x: Array, b: Array, a: Array) -> Array:
        for _ in range(OPS // 2):
            x = x * b + a
        return x.sum()

    data = (numbers(10, seed=i, scale=1e-3) + np.float32(c) for i, c in enumerate((0.5, 1.0, 0.0)))
    return _jitted(jax.grad(f), *data)


def deep() -> Any:
    """A loop whose body is `y * 1.0`: the compiler finds that nothing is to do."""

    def f(x: Array) -> Array:
        return jax.lax.scan(lambda y, _: (y * 1.0, None), x, None, 100_000)[0].sum()

    return _jitted(jax.grad(f), np.ones(1, np.float32))


def functions() -> Any:
    @jax.custom_vjp
    def scaled(x: Array, w: Array) -> Array:
        return x * w

    scaled.defvjp(lambda x, w: (x * w, (x, w)), lambda saved, g: (g * saved[1], g * saved[0]))

    def f(w: Array, x: Array) -> Array:
        return jax.lax.scan(lambda y, _: (scaled(y, w), None), x, None, 1000)[0].sum()

    return _jitted(jax.grad(f), np.ones(10, np.float32), np.ones(10, np.float32))


def hessian() -> Any:
    return _jitted(jax.hessian(lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()), numbers(10))


def jacobian() -> Any:
    def f(x: Array, P: list[Array]) -> Array:
        return P[2] @ jnp.tanh(P[0] @ x + P[1]) + P[3]

    return _jitted(jax.jacrev(f), numbers(10), weights([(32, 10), (32,), (10, 32), (10,)]))


def jvp() -> Any:
    def f(x: Array) -> Array:
        for _ in range(25):
            x = jnp.sin(x) * 1.1
        return x

    return _jitted(lambda x, v: jax.jvp(f, (x,), (v,)), numbers(100), numbers(100, seed=1))


def gradcheck() -> Any:
    """Compare Jacobians with central differences in every direction: what gradcheck does, under jit."""
    jax.config.update("jax_enable_x64", True)  # of this process, which runs nothing else

    def f(x: Array) -> Array:
        return jnp.tanh(x[0] * x[1]).sum(0)

    def check(x: Array) -> Array:
        directions = jnp.eye(24).reshape(24, 2, 3, 4)
        numerical = jax.vmap(lambda d: (f(x + 1e-6 * d) - f(x - 1e-6 * d)) / 2e-6)(directions)
        by_hand = jax.jacrev(f)(x).reshape(4, 24).T
        return jnp.allclose(numerical, by_hand, rtol=1e-3, atol=1e-5).astype(jnp.float64)

    return _jitted(check, np.stack([numbers(3, 4, seed=i) for i in range(2)]).astype(np.float64))


def elementwise() -> Any:
    def f(x: Array) -> Array:
        y = jnp.exp(-x * x) * jnp.sin(x) + jnp.sqrt(x * x + 1)
        return (y * y).sum()

    return _jitted(jax.grad(f), numbers(5_000_000))


STEPS: dict[str, Callable[[], Any]] = {
    f.__name__: f
    for f in (
        gpt_elementary, gpt_hooks, gpt_fused, gpt_wide, convolution, mlp_tiny, mlp_adam, lstm, logistic, neural_ode,
        chain, deep, functions, hessian, jacobian, jvp, gradcheck, elementwise,
    )
}  # fmt: skip
