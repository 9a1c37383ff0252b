"""Programs for several processes, and how tests start them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import gradpack

HERE = {"PYTHONPATH": os.path.dirname(os.path.dirname(gradpack.__file__)), "OMP_NUM_THREADS": "1"}
LIMIT = 120  # seconds: such machines stand still now and then


def launch(path: Path, text: str, *words: str, n: int = 2, mpi: bool = False) -> tuple[int, str, str]:
    """Run a program on `n` ranks; return the exit code, and what was written to stdout and stderr."""
    script = path / "program.py"
    script.write_text("import sys\nimport gradpack as torch\n\ndist = torch.distributed\n" + text)
    command = [sys.executable, "-m", "gradpack", "launch", "-n", str(n)]
    if mpi:
        command = [str(Path(sys.executable).with_name("mpiexec")), "-n", str(n), sys.executable]
    done = subprocess.run(
        [*command, str(script), *words],
        env={**os.environ, **HERE},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def alive(text: str) -> list[int]:
    """The processes among those that ranks have printed as `pid N` which are still there."""
    found = []
    for number in re.findall(r"pid (\d+)", text):
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            found.append(int(number))
    return found


TRAINING = """
import copy
from gradpack.examples.gpt import GPT, draw, encode, loss_of

dist.init_process_group(sys.argv[1])
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
letters, data = encode("the quick brown fox jumps over the lazy dog, again and again. " * 20)
alone = GPT(len(letters), context=32, width=32, heads=4, layers=2)
model = copy.deepcopy(alone)
if rank:
    with torch.no_grad():
        for p in model.parameters():
            p.add_(1.0)  # the parameters of rank 0 count
ddp = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.05)
steps = [draw(data, 8, 32) for _ in range(20)]
for model, part in ((alone, slice(None)), (ddp, slice(rank * 8 // size, (rank + 1) * 8 // size))):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for tokens, targets in steps:
        optimizer.zero_grad()
        loss_of(model(tokens[part]), targets[part]).backward()
        optimizer.step()
away = max((a - b).abs().max().item() for a, b in zip(alone.parameters(), ddp.parameters()))
print(f"buckets {len(ddp.reducer.buckets)} away {away:.3g}", flush=True)
dist.destroy_process_group()
"""
