"""The tables of which gradpack module stands for which torch module, and of reasons for missing ones.

Without an entry here `torch.a.b` is `gradpack.a.b`, where that exists.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType

from .. import NO_MODULES_OF_TORCH
from ..moved_modules import MOVED

LIBRARY = __name__.partition(".")[0]
VERSION = f"2.13.0+{LIBRARY}"

# Files of gradpack whose names mean something else in torch, or nothing.
_NOT_MODULES = frozenset(
    "autograd.api autograd.arguments backends.array_api backends.base backends.coo backends.numpy "
    "backends.sparse backends.memory_layout func.arguments func.sources".split()
)

# What is asked for names, in this order. `+` is the folder `stand_ins` beside this file, `=` a module of Python's.
_SOURCES: dict[str, str] = {
    "": "+top .",
    "cpu": "cpu compat.cpu_streams",
    "_C._VariableFunctions": ". ops.aten",
    "_C._autograd": "_C",
    "_C._nn": "compat.nn_functions ops.aten",
    "_VF": "compat.nn_functions . ops.aten",
    "_dynamo": "+dynamo",
    "_higher_order_ops": "+associative_scan",
    "_higher_order_ops.associative_scan": "+associative_scan",
    "_jit_internal": "+jit",
    "_subclasses": "+fake_tensor",
    "_subclasses.fake_tensor": "+fake_tensor",
    "_tensor": ".",
    "_utils": "+utils",
    "cuda.amp": "+cuda_amp amp",
    "cuda.amp.autocast_mode": "+cuda_amp amp",
    "cuda.amp.grad_scaler": "+cuda_amp",
    "cuda.random": "cuda",
    "distributed.nn": "distributed",
    "nn._reduction": "+nn_reduction",
    "distributed.tensor": "+distributed_tensor",
    "distributed.tensor.placement_types": "+distributed_tensor",
    "functional": ".",
    "fx.experimental.proxy_tensor": "+proxy_tensor",
    "_functorch": "func",
    "_functorch.apis": "func",
    "_functorch.eager_transforms": "func +functorch",
    "_functorch.functional_call": "func",
    "_functorch.make_functional": "+make_functional",
    "_functorch.vmap": "func base.tree",
    "_vmap_internals": "+vmap_internals",
    "jit": "+jit",
    "jit.annotations": "+jit",
    "multiprocessing": "+multiprocessing =multiprocessing",
    "nn": "nn +nn",
    "nn.attention": "nn.attention",
    "nn.functional.grad": "nn.grad",
    "nn.common_types": "nn.modules.utils",
    "nn.modules": "nn.modules nn +nn",
    "nn.parallel": "nn.parallel +nn_parallel",
    "nn.parallel.distributed": "nn.parallel.distributed",
    "nn.parallel.data_parallel": "+nn_parallel",
    "nn.parameter": "nn.parameter +nn",
    "onnx": "+onnx",
    "ops": "ops +ops",
    "ops.aten": "ops.aten",
    "optim.optimizer": "optim.optimizer +optim",
    "serialization": "serialization +serialization",
    "sparse": "sparse +sparse",
    "storage": "+top types",
    "torch_version": "+version",
    "utils.tensorboard": "compat.tensorboard",
    "utils.tensorboard.writer": "compat.tensorboard",
    "utils._foreach_utils": "+foreach",
    "utils._pytree": "utils._pytree compat.pytree_nodes",
    "utils.model_zoo": "hub",
    "version": "+version version",
    # Packages beside `torch` that come with it.
    ".functorch": "+functorch",
    ".functorch.experimental": "func +functorch",
}
_NEEDS = {"utils.tensorboard": "tensorboard"}  # the package of another library, without which a module is not there
PACKAGES = ("torch", "functorch")


def path_of(name: str) -> str | None:
    """How the tables write a module: what is below `torch`, or the full name after a dot. None for other packages."""
    package, _, below = name.partition(".")
    return None if package not in PACKAGES else below if package == "torch" else f".{name}"


def name_of(path: str) -> str:
    """The name of a module that the tables write so."""
    return path[1:] if path[:1] == "." else f"torch.{path}" if path else "torch"


# What is said of paths that no module answers for, and of all below them.
_REASONS: dict[str, str] = {
    "ao": "models are not quantised here",
    "quantization": "models are not quantised here",
    "distributed": "ranks have copies of a model, by DistributedDataParallel: models are not divided among them",
    "export": "there are no graphs of modules; torch.compile makes programs of functions",
    "fx": "there are no graphs of modules; torch.compile makes programs of functions",
    ".functorch": "there are no graphs of modules; torch.compile makes programs of functions",
    "_inductor": "there are no graphs of modules; torch.compile makes programs of functions",
    "_subclasses": "there are no graphs of modules; torch.compile makes programs of functions",
    "_dynamo": "there are no graphs of modules; torch.compile makes programs of functions",
    "jit": "there is no compiler: torch.jit.script and torch.jit.trace give back what they are given",
    "onnx": "models are not exported",
    "cuda": "there is no CUDA device",
    "profiler": "this gradpack has no profiler of that form",
    "package": "files hold data only; save a state_dict() instead",
    "utils.bottleneck": "Python's cProfile does this",
    "utils.cpp_extension": "extensions in C++ need PyTorch's own headers",
    "utils.data.datapipes": "torch.utils.data has datasets, samplers and DataLoader",
    "utils.tensorboard": "event files are written by the package tensorboard: pip install tensorboard",
    "nn.quantized": "models are not quantised here",
    "nn.intrinsic": "models are not quantised here",
    "nn.parallel": "a process has one device: torch.nn.parallel.DistributedDataParallel is for several processes",
    "testing._internal": "this is a part of PyTorch's own tests",
}


def _full(word: str) -> str:
    """The name of a module of ours, from how the tables write it."""
    if word == ".":
        return LIBRARY
    if word[0] == "=":
        return word[1:]
    return f"{__package__}.stand_ins.{word[1:]}" if word[0] == "+" else f"{LIBRARY}.{word}"


def _is_of_table(spec: ModuleSpec | None) -> bool:
    return spec is not None and spec.origin == "torch"


@cache
def sources(path: str) -> tuple[str, ...] | None:
    """Return the gradpack modules behind `torch.<path>`; None if there is none."""
    if path in _NEEDS and importlib.util.find_spec(_NEEDS[path]) is None:
        return None
    if path in _SOURCES:
        return tuple(_full(word) for word in _SOURCES[path].split())
    if path[:1] == ".":
        return None
    if path.partition(".")[0] in NO_MODULES_OF_TORCH or path in _NOT_MODULES or path.rpartition(".")[2] == "__main__":
        return None
    if path in MOVED:
        return None
    parent, _, name = path.rpartition(".")
    above = sources(parent)
    if above is None:
        return None
    full = f"{LIBRARY}.{path}"
    if full in sys.modules:
        return None if _is_of_table(sys.modules[full].__spec__) else (full,)
    try:
        spec = importlib.util.find_spec(full)
    except ModuleNotFoundError:  # the parent is not a package
        return None
    if spec is not None:
        return None if _is_of_table(spec) else (full,)
    made = getattr(importlib.import_module(above[-1]), name, None)  # a module that has no file
    return (full,) if isinstance(made, ModuleType) and made.__name__ == full else None


def reason(path: str) -> str:
    """Why `torch.<path>` is not there, as half a sentence; empty where there is nothing to say."""
    while path:
        if path in _REASONS:
            return _REASONS[path]
        path = path.rpartition(".")[0]
    return ""
