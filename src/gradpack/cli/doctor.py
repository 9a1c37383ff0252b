"""The `doctor` command: say what is installed, what is fast, and what is missing, with the command to get it."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple


class Optional(NamedTuple):
    """An optional package: the extra that installs it, the name that is imported, and what it is for."""

    extra: str
    package: str
    module: str
    purpose: str


OPTIONAL = [
    Optional("compiled", "numba", "numba", "large arrays in compiled loops, several times as fast"),
    Optional("special", "scipy", "scipy", "special functions, and faster linear algebra and Fourier transforms"),
    Optional("cuda", "cupy-cuda12x", "cupy", "tensors on NVIDIA GPUs"),
    Optional("cli", "rich", "rich", "the reports of `gradpack inspect` and `gradpack demo`"),
    Optional("plot", "matplotlib", "matplotlib", "plots of `gradpack demo`"),
    Optional("safetensors", "safetensors", "safetensors", "checkpoints in the format of safetensors"),
    Optional("einops", "einops", "einops", "`rearrange` and its kin on tensors"),
    Optional("einsum", "opt_einsum", "opt_einsum", "`einsum` of many operands in the best order"),
    Optional("compress", "blosc2", "blosc2", "the codec `blosc2` of saved.lossless"),
    Optional("compress", "pcodec", "pcodec", "the codec `pcodec` of saved.lossless"),
    Optional("compress", "zstandard", "zstandard", "the codec `zstd` of saved.lossless"),
    Optional("jax", "jax", "jax", '`compile(backend="jax")`: steps that XLA runs, on one device or several'),
    Optional("mpi", "mpi4py", "mpi4py", "the backend `mpi` of torch.distributed"),
    Optional("dask", "dask", "dask", "tensors that are computed later: gradpack.utils.dask"),
    Optional("dask", "distributed", "distributed", "the same, by several processes or machines"),
    Optional("nvtx", "nvtx", "nvtx", "ranges for NVIDIA's profilers"),
    Optional("itt", "ittapi", "ittapi", "ranges for Intel's profilers"),
]
# Those of which most programs have a use, or that decide what is fast.
WANTED = ("compiled", "special")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    found = examine()
    print(json.dumps(found, indent=1) if args.json else "\n".join(_lines(found)))
    return 0


def examine() -> dict[str, Any]:
    """Return what is installed, and how computations run here. Nothing that is large is imported for it."""
    from .. import __version__
    from ..backends import compiled
    from ..base.threads import get_num_threads
    from ..kernels.compilation import cache_folder

    folder = cache_folder()
    extras = []
    for one in OPTIONAL:
        there = version_of(one.package)
        extras.append(one._asdict() | {"version": there, "command": f"pip install 'gradpack[{one.extra}]'"})
    return {
        "gradpack": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "numpy": version_of("numpy"),
        "ml_dtypes": version_of("ml_dtypes"),
        "blas": _blas(),
        "threads": get_num_threads(),
        "compiled": {"available": compiled.is_available(), "enabled": compiled.is_enabled()},
        "cache": {"folder": str(folder), "loops": _loops(folder), "writable": _may_write(folder)},
        "cuda": _cuda(),
        "extras": extras,
        "advice": _advice(extras, compiled.is_enabled(), _may_write(folder)),
    }


def version_of(package: str) -> str | None:
    """Return the version of an installed package; None if it is not installed. A GPU's library has several names."""
    names = ["cupy-cuda12x", "cupy-cuda11x", "cupy-cuda13x", "cupy"] if package.startswith("cupy") else [package]
    for name in names:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None


def _blas() -> str:
    """Return the BLAS library of NumPy and whether its threads can be set, which products on all cores need."""
    import numpy as np

    from ..base import blas

    built: Any = np.show_config(mode="dicts")
    found = built.get("Build Dependencies", {}).get("blas", {})
    name = f"{found.get('name', 'unknown')} {found.get('version', '')}".strip()
    return name if blas._functions() is not None else f"{name}, whose threads gradpack cannot set"


def _loops(folder: Any) -> int:
    return sum(1 for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0


def _may_write(folder: Any) -> bool:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def _cuda() -> str | None:
    """Return the name of the first device; None without CuPy or a device."""
    if version_of("cupy") is None:
        return None
    from .. import cuda

    return cuda.get_device_name(0) if cuda.is_available() else None


def _advice(extras: list[dict[str, Any]], enabled: bool, writable: bool) -> list[str]:
    missing = [one for one in extras if one["extra"] in WANTED and one["version"] is None]
    said = [f"{one['command']}  # {one['purpose']}" for one in missing]
    if not enabled:
        said.append("unset GRADPACK_COMPILED  # it switches the compiled loops off")
    if not writable:
        said.append(
            "export GRADPACK_CACHE_DIR=/a/folder  # machine code cannot be kept, and is compiled in each process"
        )
    return said


def _lines(found: dict[str, Any]) -> list[str]:
    compiled, cache = found["compiled"], found["cache"]
    if not compiled["available"]:
        loops = "NumPy, pass by pass: Numba is not installed"
    elif not compiled["enabled"]:
        loops = "NumPy, pass by pass: GRADPACK_COMPILED=0 switches Numba off"
    else:
        loops = "compiled by Numba"
    kept = f"{cache['folder']}: {cache['loops']} files"
    facts = {
        "gradpack": found["gradpack"],
        "Python": found["python"],
        "system": found["system"],
        "NumPy": f"{found['numpy']}, ml_dtypes {found['ml_dtypes']}",
        "matrix products": f"{found['blas']}, on {found['threads']} threads (torch.set_num_threads)",
        "large arrays": loops,
        "machine code": kept if cache["writable"] else f"{kept}, not writable",
        "CUDA": found["cuda"] or "no device that CuPy can use",
    }
    lines = [f"{name:16} {value}" for name, value in facts.items()]
    lines += ["", "optional packages"]
    for one in found["extras"]:
        there = one["version"] or "missing"
        lines.append(f"  {one['package']:13} {there:10} {one['purpose']}")
        if one["version"] is None:
            lines.append(f"  {'':13} {'':10} {one['command']}")
    return [
        *lines,
        "",
        *(["to do", *(f"  {text}" for text in found["advice"])] if found["advice"] else ["All is well."]),
    ]
