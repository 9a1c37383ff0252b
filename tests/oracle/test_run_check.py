"""`gradpack run --check`, with the real torch on the other side."""

from __future__ import annotations

import os
import subprocess
import sys

import gradpack

TRAINING = """
import numpy as np, torch
x = torch.from_numpy(np.arange(8.0).reshape(2, 4)).float()
model = torch.nn.Linear(4, 2)
with torch.no_grad():
    model.weight.fill_(0.1)
    model.bias.zero_()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = model(x).pow(2).sum()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
"""


def checked(tmp_path, text):
    script = tmp_path / "train.py"
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "gradpack", "run", "--check", str(script)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(gradpack.__file__))},
    )
    return done.returncode, done.stdout


def test_a_program_that_computes_the_same(tmp_path):
    assert checked(tmp_path, TRAINING) == (0, "gradpack run --check: the 3 lines that the program printed are equal\n")


def test_a_program_that_draws_random_numbers(tmp_path):
    code, out = checked(
        tmp_path, TRAINING + "torch.manual_seed(0)\ny = torch.randn(3) + 1\nprint('mean', y.mean().item())\n"
    )
    assert code == 1 and "line 4 of the output differs\n  torch:    mean 0.68959" in out
    assert (
        "The first result that differs: torch.randn at " in out
        and f"train.py:{TRAINING.count(chr(10)) + 2}, float32 [3]: " in out
    )
    assert "It draws random numbers" in out


def test_a_program_that_asks_which_library_it_is(tmp_path):
    code, out = checked(tmp_path, "import torch\nassert 'gradpack' not in torch.__version__, 'only torch'\n")
    assert code == 1 and "exit code 0 on torch, 1 on gradpack" in out and "AssertionError: only torch" in out
