"""Programs of XLA's on eight devices compute what they compute on one."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import gradpack as torch

pytest.importorskip("jax")

_DEVICES = """
import json, sys
import numpy as np
import gradpack as torch
from jax.sharding import PartitionSpec

def run(place):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    @torch.compile(backend="jax", options=place and {"place": place})
    def step(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    r = np.random.default_rng(0)
    losses = []
    for _ in range(10):
        x, y = torch.tensor(r.normal(size=(16, 16)).astype("f4")), torch.tensor(r.integers(0, 8, 16))
        losses.append(step(x, y).item())
    (binding,) = step.bindings.values()
    from gradpack.compiler.jax.deferred import held_by
    packs, place = held_by(model[0].weight)
    shards = packs.array(place).addressable_shards
    shards = len(shards), shards[0].data.shape
    return losses, shards, [p.tolist() for p in model.parameters()]

places = [None, "replicated", "fsdp", {"0.*": PartitionSpec("data"), "2.weight*": PartitionSpec(None, "data")}]
print(json.dumps([run(place) for place in places]))
"""


def test_eight_devices_equal_one():
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", _DEVICES], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (losses, shards, parameters), *others = json.loads(done.stdout)
    assert shards == [1, [32, 16]]
    assert [found[1] for found in others] == [[8, [32, 16]], [8, [4, 16]], [8, [4, 16]]]
    for found, _, its in others:
        np.testing.assert_allclose(losses, found, rtol=1e-6, atol=1e-6)
        for a, b in zip(parameters, its, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


_SAVES = """
import sys
import numpy as np
import jax
import gradpack as torch

path, turn = sys.argv[1], int(sys.argv[2])
torch.manual_seed(turn)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 8))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
if turn:
    found = torch.load(path)
    model.load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])

def step(x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss

if jax.device_count() > 1 or turn:
    step = torch.compile(step, backend="jax", fullgraph=True, options={"place": "fsdp"})
r = np.random.default_rng(turn)
for _ in range(6):
    step(*[torch.tensor(r.normal(size=(16, n)).astype("f4")) for n in (16, 8)])
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
"""


def _saved(path, devices):
    """Train twice, from a checkpoint the second time, and return what was saved in the end."""
    for turn, count in enumerate(devices):
        flags = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={count}", "JAX_PLATFORMS": "cpu"}
        done = subprocess.run(
            [sys.executable, "-c", _SAVES, str(path), str(turn)],
            env=os.environ | flags, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return torch.load(path)


def test_a_checkpoint_loads_on_another_number_of_devices(tmp_path):
    wanted, found = _saved(tmp_path / "one.pt", (1, 1)), _saved(tmp_path / "more.pt", (8, 2))
    for name, value in wanted["model"].items():
        np.testing.assert_allclose(found["model"][name].numpy(), value.numpy(), rtol=1e-6, atol=1e-6)
    for key, state in wanted["optimizer"]["state"].items():
        for name, value in state.items():
            its = found["optimizer"]["state"][key][name]
            np.testing.assert_allclose(its.numpy(), value.numpy(), rtol=1e-5, atol=1e-6)
