"""A hook of MkDocs: adds the pages of the reference to those of the folder, and to the navigation."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[2] / "src")]

from mkdocs.structure.files import File, InclusionLevel  # noqa: E402

from tools.reference import docstrings, names, pages  # noqa: E402 (MkDocs runs this file by its path)

LOG = logging.getLogger("mkdocs.reference")
# What people type who look for a page, beside the words on it; and pages that are seldom meant.
SEARCHED = {
    "start.md": ["install", "pip", "getting started", "quickstart"],
    "sharp_edges.md": ["in-place error", "inplace", "FAQ", "questions", "report a bug", "retain_graph", "zero_grad"],
    "tutorials/digits.md": ["image classifier", "CNN", "training loop"],
    "tutorials/gpt.md": ["transformer", "language model"],
    "tutorials/ode.md": ["differential equation"],
    "tutorials/memory.md": ["out of memory", "memory", "memory budget"],
    "tutorials/per_example.md": ["per-sample gradients", "differential privacy", "vmap"],
    "tutorials/own_operation.md": ["custom function", "custom operation", "custom op"],
    "howto/choosing.md": ["save memory", "memory", "saved tensors"],
    "howto/checkpoints.md": ["save model", "load model", "state_dict", "safetensors"],
    "howto/interop.md": ["numpy", "DLPack", "JAX", "SciPy"],
    "howto/profiling.md": ["profile", "profiler", "slow", "speed"],
    "howto/nan.md": ["NaN", "anomaly", "inf"],
    "devices.md": ["GPU", "CUDA", "device"],
    "compile.md": ["compile", "jit", "torch.compile"],
    "distributed.md": ["DDP", "distributed", "MPI", "multiprocessing"],
    "saved.md": ["memory budget", "offload"],
    "explanation/tape.md": ["graph", "autograd", "hooks"],
    "explanation/forward_mode.md": ["forward mode", "jvp", "dual numbers"],
    "explanation/fast.md": ["performance", "benchmark"],
    "differences.md": ["limitations", "unsupported"],
    "reference/autograd.md": ["hooks"],
    "api/nn/index.md": ["layers", "losses", "activations"],
    "api/optim/index.md": ["optimizers"],
    "api/optim/lr_scheduler/index.md": ["learning rate", "scheduler"],
    "api/distributions/index.md": ["probability distributions"],
    "api/linalg/index.md": ["linear algebra"],
    "api/distributed/index.md": ["collectives", "processes"],
}
SELDOM = {"decisions/": 0.1, "compatibility.md": 0.1, "architecture.md": 0.5, "releases.md": 0.1, "api/": 0.5}


def on_config(config: Any) -> Any:
    """Add the indexes of modules to the part of the navigation that is called Reference."""
    indexes = [{names.title_of(m): names.index_page(m)} for m in names.MODULES]
    for part in config["nav"] or []:
        if isinstance(part, dict) and isinstance(part.get("Reference"), list):
            part["Reference"][:0] = [{"All modules": "api/index.md"}, *indexes]
    return config


def on_nav(nav: Any, config: Any, files: Any) -> Any:
    """Show the modules beside the page of each name, too, which the navigation does not list."""
    section = next((item for item in nav.items if item.is_section and item.title == "Reference"), None)
    for file in files.documentation_pages():
        if section is not None and file.src_uri.startswith("api/") and file.page is not None:
            file.page.parent = file.page.parent or section
    return nav


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Say what a page is found by, and how much it counts: guides more than single names."""
    path = page.file.src_uri
    if path == "names.md":
        page.meta["search"] = {"exclude": True}
    else:
        weight = 6.0 if path in SEARCHED else next((w for start, w in SELDOM.items() if path.startswith(start)), 4.0)
        page.meta.setdefault("search", {"boost": weight})
        page.meta.setdefault("tags", SEARCHED.get(path, []))
    if path.startswith("reference/"):
        return pages.tables(markdown, path, {e.path: e for group in names.entries().values() for e in group})
    return markdown


def on_files(files: Any, config: Any) -> Any:
    """Add a page for every public name, and run its example where the libraries that it imports are installed."""
    for group in names.entries().values():
        for entry in group:
            session = "" if entry.same_as else entry.example
            missing = docstrings.absent(session)
            if missing:
                LOG.info("the example of %s is not run: %s is not installed", entry.path, ", ".join(missing))
            elif wrong := docstrings.check(entry.path, session):
                LOG.warning("the example of %s: %s", entry.path, wrong)
    listed = {names.index_page(m) for m in names.MODULES} | {"api/index.md"}
    for path, text in pages.pages().items():
        level = InclusionLevel.INCLUDED if path in listed else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, path, content=text, inclusion=level))
    return files
