"""The public names that have a page, by module."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import gradpack
from gradpack.compat import harmless

from . import docstrings

# Modules in the order of the index, and what the index says of them.
MODULES = {
    "": "Making, combining and reducing tensors",
    "Tensor": "The tensor: its methods and attributes",
    "nn": "Layers, losses and containers of parameters",
    "nn.functional": "Layers and losses as functions",
    "nn.init": "Initial values of parameters",
    "nn.utils": "Clipping of gradients, and parameters as vectors",
    "nn.utils.rnn": "Sequences of different lengths",
    "nn.utils.parametrize": "Parameters that are computed from others",
    "nn.utils.parametrizations": "Orthogonal matrices, weight and spectral norms",
    "nn.utils.prune": "Zeros in the place of weights",
    "nn.utils.stateless": "Calls of modules with other parameters",
    "nn.attention": "Ways of computing attention",
    "nn.attention.flex_attention": "Attention whose scores and mask are functions",
    "nn.grad": "Gradients of convolutions as functions",
    "nn.parallel": "Training by several processes",
    "optim": "Optimizers",
    "optim.lr_scheduler": "Schedules of learning rates",
    "optim.swa_utils": "Averages of weights",
    "autograd": "Gradients, functions of one's own, and checks of gradients",
    "autograd.function": "What functions of one's own are given and made of",
    "autograd.forward_ad": "Forward mode: tensors with tangents",
    "autograd.functional": "Jacobians, Hessians and products with them",
    "autograd.graph": "Nodes of the graph, and hooks for saved tensors",
    "autograd.profiler": "The profiler under its older name",
    "autograd.profiler_util": "Events of the profiler",
    "func": "Transforms of functions",
    "linalg": "Linear algebra",
    "fft": "Fourier transforms",
    "special": "Special functions",
    "array_api": "The array API standard: the same functions under its names",
    "array_api.fft": "Fourier transforms under the standard's names",
    "array_api.linalg": "Linear algebra under the standard's names",
    "array_api.special": "Special functions under SciPy's names",
    "signal.windows": "Windows",
    "distributions": "Probability distributions",
    "distributions.transforms": "Transforms of random variables",
    "distributions.constraints": "Constraints on parameters and values",
    "distributions.constraint_registry": "Which transform leads to a constraint",
    "distributions.utils": "Helpers of distributions",
    "saved": "Ways of keeping saved tensors, budgets and recordings",
    "saved.torch": "The same for the graphs of PyTorch",
    "sparse": "Functions of sparse tensors",
    "distributed": "Several processes that exchange tensors",
    "distributed.algorithms.ddp_comm_hooks.default_hooks": "How gradients are exchanged",
    "futures": "Results that come later",
    "utils": "What belongs nowhere else",
    "utils.checkpoint": "Recomputing instead of keeping",
    "utils.data": "Data sets and loaders",
    "utils.dlpack": "Memory shared with other libraries",
    "utils.flop_counter": "Counting floating-point operations",
    "random": "Generators of random numbers and their state",
    "quasirandom": "Sobol sequences",
    "compiler": "Compiling functions",
    "jit": "Names of TorchScript, which compile nothing here",
    "hub": "Models from folders with a `hubconf.py`",
    "amp": "Automatic mixed precision",
    "masked": "Reductions over the elements that a mask selects",
    "profiler": "Where time and memory go",
    "profiler.itt": "Marks for another profiler",
    "serialization": "Which classes a file may contain",
    "testing": "Comparison of tensors",
    "overrides": "Classes that stand for tensors",
    "library": "Operators of one's own under PyTorch's interface",
    "extend": "Operations, dtypes and devices of one's own",
    "backends.compiled": "The switch of compiled loops",
    "backends.opt_einsum": "The order in which `einsum` contracts",
    "backends.cpu": "What the CPU can do",
    "backends.cuda": "Settings of CUDA, without effect",
    "backends.cudnn": "Settings of cuDNN, without effect",
    "backends.mkl": "Whether MKL is used as PyTorch uses it",
    "backends.mkldnn": "Whether oneDNN is used",
    "backends.mps": "Whether Apple's Metal is used",
    "backends.nnpack": "Whether NNPACK is used",
    "backends.openmp": "Whether OpenMP is used",
    "accelerator": "The accelerator of this machine",
    "cpu": "The CPU as a device",
    "cpu.amp": "Automatic mixed precision on the CPU under its older name",
    "cuda": "CUDA devices, by CuPy",
    "cuda.amp": "Automatic mixed precision on CUDA devices under its older name",
    "cuda.nvtx": "Marks for NVIDIA's profilers, without effect",
    "mps": "Apple's Metal devices: there are none",
    "xpu": "Intel's devices: there are none",
    "as_torch": "Programs that import torch",
}

_OWN = {"array_api", "saved", "saved.torch", "extend", "as_torch", "backends.compiled"}
_OWN |= {f"array_api.{name}" for name in ("fft", "linalg", "special")}


@dataclass
class Entry:
    """A public name: of which module, and what it stands for."""

    module: str
    name: str
    value: Any
    aliases: list[str] = field(default_factory=list)
    same_as: str = ""

    @property
    def path(self) -> str:
        """The name as users write it, below the package."""
        return f"{self.module}.{self.name}" if self.module else self.name

    @property
    def heading(self) -> str:
        """The name as torch has it, or as gradpack has it where torch has none."""
        return f"{title_of(self.module)}.{self.name}"

    @property
    def example(self) -> str:
        """The session that shows what it does: of the docstring, or kept apart."""
        return docstrings.example(self.value) or docstrings.kept_apart().get(self.path, "")

    @property
    def page(self) -> str:
        """The path of the page below `docs`."""
        folder = "/".join((self.module or "torch").split("."))
        return f"api/{folder}/{file_name(self.name)}.md"


def title_of(module: str) -> str:
    """The name of a module as users write it: `gradpack` instead of `torch` for what torch does not have."""
    place = "gradpack" if module in _OWN else "torch"
    return f"{place}.{module}" if module else place


def file_name(name: str) -> str:
    """The name of a file that differs from others also where capitals do not count."""
    return name + ("-class" if name[:1].isupper() else "")


def index_page(module: str) -> str:
    """The path of the index of a module below `docs`."""
    return f"api/{'/'.join((module or 'torch').split('.'))}/index.md"


def module_of(name: str) -> ModuleType | type:
    """The module, or the class `Tensor`, that holds the names of an index."""
    if name == "Tensor":
        return gradpack.Tensor
    return importlib.import_module(f"gradpack.{name}" if name else "gradpack")


def names_of(name: str) -> list[str]:
    """The public names of a module, sorted."""
    found = module_of(name)
    if isinstance(found, type):
        return sorted(n for n in dir(found) if n[0] != "_")
    quiet = (path.rpartition(".") for path in harmless.found())
    more = {n for module, _, n in quiet if module == f"torch.{name}" and n[0] != "_"}
    own = [n for n, v in vars(found).items() if n[0] != "_" and getattr(v, "__module__", None) == found.__name__]
    return sorted({*getattr(found, "__all__", own)} | more)


def is_documented_by_itself(value: Any) -> bool:
    """Whether a name is a function or a class: numbers, modules, types of one letter and Python's own have no page."""
    own = type(value).__module__ not in ("types", "typing")
    return own and (isinstance(value, type) or callable(value)) and bool(inspect.getdoc(value))


def entries() -> dict[str, list[Entry]]:
    """Return the names of each module; those that are the same object as an earlier one refer to it."""
    first: dict[int, Entry] = {}
    found: dict[str, list[Entry]] = {}
    for module in MODULES:
        place = module_of(module)
        group: list[Entry] = []
        for name in sorted(names_of(module), key=lambda n: (n.endswith("_"), not is_own_name(place, n), n)):
            value = getattr(place, name, None)
            if not is_documented_by_itself(value) and not isinstance(value, property):
                continue
            entry = Entry(module, name, value)
            known = base_of({**found, module: group}, entry) or first.setdefault(id(value), entry)
            if known is not entry:
                known.aliases.append(entry.heading)
                entry.same_as = known.path
            group.append(entry)
        found[module] = sorted(group, key=lambda e: e.name)
    return found


def base_of(found: dict[str, list[Entry]], entry: Entry) -> Entry | None:
    """Return the function on whose page a method, or a form in place, is told about; None if it has its own."""
    functions = {e.name: e for e in found.get("", []) if not e.same_as}
    doc = inspect.getdoc(entry.value) or ""
    inplace = re.match(r"In-place form of `(\w+)`", doc)
    if inplace:
        group = {e.name: e for e in found.get(entry.module, []) if not e.same_as}
        return group.get(inplace[1]) or functions.get(inplace[1])
    function = functions.get(entry.name) if entry.module == "Tensor" else None
    return function if function and inspect.getdoc(function.value) == doc else None


def is_own_name(place: Any, name: str) -> bool:
    """Whether a function has this name itself: of several names this one gets the page."""
    return bool(getattr(getattr(place, name, None), "__name__", "") == name)
