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
    "gpytorch_deep": ("Gaussian processes", "gpytorch"),
    "botorch_search": ("Gaussian processes", "botorch"),
    "botorch_acquisition": ("Gaussian processes", "botorch"),
    "pyro_inference": ("probabilistic programming", "pyro-ppl"),
    "sbi_inference": ("probabilistic programming", "sbi"),
    "laplace_classifier": ("probabilistic programming", "laplace-torch"),
    "nflows_density": ("flows", "nflows"),
    "zuko_flows": ("flows", "zuko"),
    "normflows_real_nvp": ("flows", "normflows"),
    "freia_invertible": ("flows", "FrEIA"),
    "transformers_gpt2": ("transformers", "transformers"),
    "transformers_bert": ("transformers", "transformers"),
    "transformers_more": ("transformers", "transformers"),
    "transformers_trainer": ("transformers", "transformers accelerate"),
    "sentence_embeddings": ("transformers", "sentence-transformers"),
    "x_transformers_language": ("transformers", "x-transformers"),
    "lucidrains_attention": (
        "transformers",
        "linformer local-attention minGRU-pytorch nystrom-attention performer-pytorch perceiver-pytorch",
    ),
    "mamba_language": ("transformers", "mambapy"),
    "peft_adapters": ("transformers", "peft"),
    "einops_mixer": ("layers", "einops"),
    "kan_network": ("layers", "pykan"),
    "snntorch_spikes": ("layers", "snntorch"),
    "tabnet": ("layers", "pytorch-tabnet tab-transformer-pytorch"),
    "entmax_losses": ("losses and optimisers", "entmax torch-optimizer"),
    "timm_vision": ("vision", "timm"),
    "torchvision_models": ("vision", "torchvision"),
    "vit_models": ("vision", "vit-pytorch"),
    "segmentation_unet": ("vision", "segmentation_models_pytorch"),
    "monai_segmentation": ("vision", "monai"),
    "vector_quantize": ("vision", "vector-quantize-pytorch"),
    "kornia_images": ("vision", "kornia"),
    "diffusers_unet": ("diffusion", "diffusers"),
    "diffusers_more": ("diffusion", "diffusers"),
    "denoising_diffusion": ("diffusion", "denoising-diffusion-pytorch"),
    "geometric_graphs": ("graph networks", "torch-geometric"),
    "geometric_more": ("graph networks", "torch-geometric"),
    "stable_baselines_ppo": ("reinforcement learning", "stable-baselines3"),
    "tianshou_policies": ("reinforcement learning", "tianshou"),
    "backpack_second_order": ("second-order methods", "backpack-for-pytorch"),
    "curvlinops_products": ("second-order methods", "curvlinops-for-pytorch"),
    "minimize_second_order": ("second-order methods", "pytorch-minimize"),
    "higher_meta": ("second-order methods", "higher"),
    "opacus_private": ("differential privacy", "opacus"),
    "captum_attributions": ("interpretability", "captum"),
    "zennit_relevance": ("interpretability", "zennit"),
    "attacks": ("interpretability", "torchattacks foolbox"),
    "equations_ode_sde": ("differential equations", "torchdiffeq torchcde torchsde"),
    "torchdyn_odes": ("differential equations", "torchdyn"),
    "deepxde_pinn": ("differential equations", "deepxde"),
    "neural_operators": ("differential equations", "neuraloperator"),
    "geotorch_manifolds": ("manifolds", "geotorch"),
    "optimal_transport": ("optimal transport", "POT geomloss"),
    "torchmetrics_values": ("metrics", "torchmetrics"),
    "metric_learning": ("metrics", "pytorch-metric-learning"),
    "lightning_trainer": ("training frameworks", "pytorch-lightning"),
    "ignite_engine": ("training frameworks", "pytorch-ignite"),
    "accelerate_loop": ("training frameworks", "accelerate"),
    "skorch_classifier": ("training frameworks", "skorch"),
    "tensordict_modules": ("training frameworks", "tensordict"),
}
_NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?|-?\d+(?:e[-+]\d+)?|nan|inf")
_ENVIRONMENT = {
    # Programs import `same`.
    "PYTHONPATH": os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH")))),
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONWARNINGS": "ignore",
}


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


def files() -> dict[str, Path]:
    """The files of all programs, by their names."""
    return {path.stem: path for path in HERE.glob("*/*.py")}


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
    path = str(files()[name])
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
        "Each line is a program in `tests/programs` on packages that say `import torch`, a training loop or some: once",
        "on PyTorch, once with `gradpack run`, from the same numbers. The difference is the largest one between the",
        "numbers that are printed (losses, predictions, parameters), relative where they are above one. Seconds and",
        "MiB are of the whole process, imports included, on gradpack and on PyTorch. `make programs` runs them and",
        f"writes this page (PyTorch {metadata.version('torch')}, Python {sys.version.split()[0]}).",
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
