"""Programs that say `import torch`, and packages that do, print the same numbers on gradpack as on torch."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
FOLDER = Path(__file__).with_name("programs")

# What each needs besides torch, and how far its numbers may be apart: relatively, and at least this much.
PROGRAMS = {
    "gpt": ("", 1e-4),
    "neural_ode": ("torchdiffeq", 1e-6),
    "mixer": ("einops", 1e-5),
    "optimizers": ("lion_pytorch madgrad prodigyopt schedulefree torch_optimizer", 2e-4),
    "maml": ("higher", 1e-4),
    "manifolds": ("geotorch", 1e-5),
    "transformers": ("x_transformers", 1e-4),
    "losses": ("egnn_pytorch entmax nystrom_attention pytorch_msssim siren_pytorch", 2e-4),
    "metrics": ("torchmetrics", 1e-4),
    "equations": ("torchcde torchsde xitorch", 1e-6),
    "images": ("kornia", 2e-4),
    "attention_layers": ("linformer local_attention perceiver_pytorch rotary_embedding_torch", 1e-4),
    "embeddings": ("nflows pytorch_metric_learning snntorch", 2e-4),
}
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+(?:e[-+]\d+)|nan|inf")


def printed(command: list[str], name: str) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, *command, str(FOLDER / f"{name}.py")],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def close(a: float, b: float, tolerance: float) -> bool:
    return a == b or (a != a and b != b) or abs(a - b) <= tolerance * max(1.0, abs(b))  # noqa: PLR0124 - NaN


def differences(ours: str, theirs: str, tolerance: float) -> list[str]:
    """The lines whose words differ, or whose numbers are further apart than the tolerance."""
    found = []
    one, other = ours.splitlines(), theirs.splitlines()
    for a, b in zip(one, other, strict=False):
        x, y = ([float(v) for v in _NUMBER.findall(line)] for line in (a, b))
        same = _NUMBER.sub("#", a) == _NUMBER.sub("#", b)
        if not same or not all(close(v, w, tolerance) for v, w in zip(x, y, strict=True)):
            found.append(f"{a}\n{b}")
    return found if len(one) == len(other) else [*found, f"{len(one)} lines, and {len(other)} of torch"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_the_same(name):
    packages, tolerance = PROGRAMS[name]
    missing = [p for p in packages.split() if importlib.util.find_spec(p) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    theirs = printed([], name)
    ours = printed(["-m", "gradpack", "run", "--force"], name)
    assert len(_NUMBER.findall(theirs)) > 5
    assert differences(ours, theirs, tolerance) == []


def test_the_comparison_sees_numbers_and_words():
    assert differences("a 1.00001 [2, 3]", "a 1.00002 [2, 3]", 1e-4) == []
    assert len(differences("a 1.1", "a 1.0", 1e-2)) == 1
    assert len(differences("a [2, 3]", "a [2, 4]", 1e-2)) == 1
    assert len(differences("a 1.0", "b 1.0", 1e-2)) == 1
    assert len(differences("a 1.0", "a 1.0\nb", 1e-2)) == 1
    assert len(differences("a nan", "a 1.0", 1e-2)) == 1
