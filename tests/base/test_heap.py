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


FLAGS = """
import re
import gradpack as torch

x = torch.ones(300_000) * 2
heap, flags = False, []
for line in open("/proc/self/smaps"):
    if re.match("[0-9a-f]+-", line):
        heap = line.rstrip().endswith("[heap]")
    elif heap and line.startswith("VmFlags:"):
        flags += line.split()[1:]
print("hg" in flags)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library decides for itself")
@pytest.mark.skipif(not os.path.exists("/sys/kernel/mm/transparent_hugepage"), reason="the system has no huge pages")
@pytest.mark.parametrize(("name", "value", "asked"), [("OTHER", "1", True), ("NUMPY_MADVISE_HUGEPAGE", "0", False)])
def test_the_heap_grows_by_huge_pages_unless_numpy_is_to_use_none(name, value, asked):
    done = subprocess.run(
        [sys.executable, "-c", FLAGS], capture_output=True, text=True, check=True, env=os.environ | {name: value}
    )
    assert done.stdout.split() == [str(asked)]
