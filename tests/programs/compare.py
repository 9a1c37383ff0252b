"""Runs programs on torch and on gradpack, compares every number that they print, and writes `docs/compatibility.md`.

`make programs` installs the packages and does both; `python -m tests.programs.compare NAME ...` runs some, and prints.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "compatibility.md"
TOLERANCE = 1e-4

# By the name of the program: the packages that it is about, by the names under which they are installed.
PROGRAMS = {
    "gpytorch_regression": ("Gaussian processes", "gpytorch linear_operator"),
    "botorch_search": ("Gaussian processes", "botorch"),
    "pyro_inference": ("probabilistic programming", "pyro-ppl"),
    "nflows_density": ("flows", "nflows"),
    "zuko_flows": ("flows", "zuko"),
    "normflows_real_nvp": ("flows", "normflows"),
    "transformers_gpt2": ("transformers", "transformers"),
    "transformers_bert": ("transformers", "transformers"),
    "x_transformers_language": ("transformers", "x-transformers"),
    "peft_adapters": ("transformers", "peft"),
    "einops_mixer": ("layers", "einops"),
    "entmax_losses": ("losses and optimisers", "entmax torch-optimizer"),
    "timm_vision": ("vision", "timm"),
    "torchvision_models": ("vision", "torchvision"),
    "kornia_images": ("vision", "kornia"),
    "diffusers_unet": ("diffusion", "diffusers"),
    "geometric_graphs": ("graph networks", "torch-geometric"),
    "stable_baselines_ppo": ("reinforcement learning", "stable-baselines3"),
    "backpack_second_order": ("second-order methods", "backpack-for-pytorch"),
    "curvlinops_products": ("second-order methods", "curvlinops-for-pytorch"),
    "opacus_private": ("differential privacy", "opacus"),
    "captum_attributions": ("interpretability", "captum"),
    "equations_ode_sde": ("differential equations", "torchdiffeq torchcde torchsde"),
    "geotorch_manifolds": ("manifolds", "geotorch"),
    "torchmetrics_values": ("metrics", "torchmetrics"),
    "lightning_trainer": ("training frameworks", "pytorch-lightning"),
    "ignite_engine": ("training frameworks", "pytorch-ignite"),
    "accelerate_loop": ("training frameworks", "accelerate"),
}
_NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?|-?\d+(?:e[-+]\d+)?|nan|inf")
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}


class Run(NamedTuple):
    """The exit code of a program, what it printed and said of errors, its seconds, and its largest memory in MiB."""

    code: int
    printed: str
    errors: str
    seconds: float
    memory: float


class Result(NamedTuple):
    """Both runs of a program, the largest difference, and what is wrong, if anything is."""

    ours: Run
    theirs: Run
    difference: float
    wrong: str


def run(command: list[str]) -> Run:
    """Run a command of this Python."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        began = time.perf_counter()
        actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)]
        child = os.posix_spawn(
            sys.executable, [sys.executable, *command], {**os.environ, **_ENVIRONMENT}, file_actions=actions
        )
        _, status, usage = os.wait4(child, 0)
        seconds = time.perf_counter() - began
        out.seek(0)
        errors.seek(0)
        return Run(os.waitstatus_to_exitcode(status), out.read(), errors.read(), seconds, usage.ru_maxrss / 1024)


def compare(name: str) -> Result:
    """Run a program on both and compare what it prints."""
    path = str(HERE / f"{name}.py")
    theirs = run([str(HERE / "on_torch.py"), path])
    ours = run(["-m", "gradpack", "run", "--force", path])
    for library, done in (("torch", theirs), ("gradpack", ours)):
        if done.code:
            return Result(ours, theirs, float("inf"), f"{library}: {done.errors.strip()[-2000:]}")
    found, expected = (_NUMBER.findall(done.printed) for done in (ours, theirs))
    if _NUMBER.sub("#", ours.printed).split() != _NUMBER.sub("#", theirs.printed).split() or len(found) < 3:
        return Result(ours, theirs, float("inf"), f"other words:\n{ours.printed}\nand of torch:\n{theirs.printed}")
    pairs = [(float(a), float(b)) for a, b in zip(found, expected, strict=True)]
    worst = max(0.0 if a == b or (a != a and b != b) else abs(a - b) / max(1.0, abs(b)) for a, b in pairs)  # noqa: PLR0124
    wrong = "" if worst <= TOLERANCE else f"other numbers:\n{ours.printed}\nand of torch:\n{theirs.printed}"
    return Result(ours, theirs, worst, wrong)


def versions(packages: str) -> str:
    """The packages with their versions."""
    return ", ".join(f"{p} {metadata.version(p)}" for p in packages.split())


def page(results: dict[str, Result]) -> str:
    """The page of the documentation, from the results of all programs."""
    lines = [
        "# Packages that have been run",
        "",
        "Each line is a training loop in `tests/programs` on packages that say `import torch`: once on PyTorch, once",
        "with `gradpack run`, from the same numbers. The difference is the largest one between the numbers that are",
        "printed (losses, predictions, parameters), relative where they are above one. Seconds and MiB are of the",
        "whole process, imports included, on gradpack and on PyTorch. `make programs` runs them and writes this page",
        f"(PyTorch {metadata.version('torch')}, Python {sys.version.split()[0]}).",
        "",
        "| kind | packages | program | result | difference | seconds | MiB |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, result in results.items():
        kind, packages = PROGRAMS[name]
        verdict = "equal" if not result.wrong else "differs"
        ours, theirs = result.ours, result.theirs
        lines.append(
            f"| {kind} | {versions(packages)} | `{name}` | {verdict} | {result.difference:.0e} | "
            f"{ours.seconds:.1f}, {theirs.seconds:.1f} | {ours.memory:.0f}, {theirs.memory:.0f} |"
        )
    return "\n".join(lines) + "\n"


def main(names: list[str]) -> int:
    """Run programs and print the results; of all programs, write the page too."""
    results = {}
    for name in names or PROGRAMS:
        result = results[name] = compare(name)
        print(f"{name}: {result.wrong or 'equal'} ({result.difference:.0e})", flush=True)
    if not names:
        PAGE.write_text(page(results), encoding="utf-8")
    return any(result.wrong for result in results.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
