"""Freed memory that is kept for the next step."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

STEPS = """
import resource
import gradpack as torch

x = torch.randn(2_000_000, requires_grad=True)

def step():
    x.grad = None
    y = torch.exp(-x * x) * torch.sin(x) + torch.sqrt(x * x + 1)
    (y * y).sum().backward()

for _ in range(6):
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(**environment):
    """The pages that the system gave in five steps, each of which holds 80 MB."""
    done = subprocess.run(
        [sys.executable, "-c", STEPS], capture_output=True, text=True, check=True, env=os.environ | environment
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library decides for itself")
def test_later_steps_use_the_memory_of_earlier_ones():
    kept = faults()
    assert kept < 1000
    assert faults(MALLOC_TRIM_THRESHOLD_="131072") > kept  # what the user says holds
