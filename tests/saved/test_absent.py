"""Ways of keeping where Python or the system lacks something, as in a browser: no clock of a thread, no threads, no
`fcntl`, no ml_dtypes.
"""

from __future__ import annotations

import subprocess
import sys

WITHOUT = """
import sys, time
from threading import Thread
for name in ("fcntl", "ml_dtypes", "mmap", "_multiprocessing", "resource", "_ctypes"):
    sys.modules[name] = None
del time.thread_time
def start(self):
    raise RuntimeError("can't start new thread")
Thread.start = start
"""
TRAIN = """
import gradpack as torch
from gradpack import saved

torch.set_num_threads(4)

def gradient(way):
    torch.manual_seed(0)
    x, w = torch.randn(300, 200, requires_grad=True), torch.randn(200, 900)
    with way:
        y = (x @ w).tanh() * (x @ w).sin()
        z = ((x @ w).exp() * y).sum() + (x @ w).sigmoid().sum()
    return torch.autograd.grad(z, x)[0]

wanted = gradient(saved.keep())
"""


def run(text: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + TRAIN + text], capture_output=True, text=True, check=False, timeout=120
    )
    assert not done.returncode, done.stderr
    return done.stdout


WAYS = [
    "cpu()", "disk()", "Disk()", "lossless('zlib')", "recompute()", "meter()", "budget('1 MiB')",
    "budget('1 MiB', disk='20 MiB')",
]  # fmt: skip


def test_what_can_do_without_works() -> None:
    text = f"for way in {WAYS}:\n    print(way, torch.equal(gradient(eval('saved.' + way)), wanted))"
    assert run(text).splitlines() == [f"{way} True" for way in WAYS]


def test_what_needs_ml_dtypes_says_so() -> None:
    uses = ["saved.bf16()", "saved.fp8()", "torch.ones(2, dtype=torch.bfloat16)", "wanted.bfloat16()"]
    text = f"for use in {uses}:\n    try:\n        eval(use)\n    except ImportError as error:\n        print(error)"
    found = run(text).splitlines()
    assert len(found) == len(uses)
    assert all("ml_dtypes, which is not installed" in line for line in found)
