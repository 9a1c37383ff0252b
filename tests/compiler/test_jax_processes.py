"""Two processes with `jax.distributed`, four devices each, train what one device trains."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("jax")

_RANK = """
import json, sys
import numpy as np
import jax
import gradpack as torch

place, rank, port = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if port != "0":
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{port}", 2, rank)
    assert jax.device_count() == 8 and jax.local_device_count() == 4

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 8))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

@torch.compile(backend="jax", fullgraph=True, options={"place": place} if place != "none" else None)
def step(x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss

r, losses = np.random.default_rng(0), []
for _ in range(8):
    x, y = (torch.tensor(r.normal(size=(16, n)).astype("f4")) for n in (16, 8))
    losses.append(step(x, y).item())
assert step.bindings
print(json.dumps([losses, [p.tolist() for p in model.parameters()]]))
"""


def trained(place, port=0):
    """Return losses and parameters of each process."""
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    if port:
        environment["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", _RANK, place, str(rank), str(port)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2 if port else 1)
    ]
    try:
        done = [rank.communicate(timeout=240) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    assert [rank.returncode for rank in ranks] == [0] * len(ranks), done[0][1] + done[-1][1]
    return [json.loads(out.splitlines()[-1]) for out, _ in done]


@pytest.mark.parametrize("place", ["replicated", "fsdp"])
def test_two_processes_are_one_device(place):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ((losses, parameters),) = trained("none")
    for found, its in trained(place, port):
        np.testing.assert_allclose(found, losses, rtol=1e-6, atol=1e-6)
        for a, b in zip(its, parameters, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
