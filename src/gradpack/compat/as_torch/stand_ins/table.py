"""The stand-ins for modules of torch, as data: fixed answers, no-ops and refusals."""

from __future__ import annotations

from typing import Any, Final

from .... import compiler
from ....base.exception_wrapper import ExceptionWrapper
from ....compiler.module import OptimizedModule
from ....ops.nn.reduction import number_of
from ...facades import Facade
from ...harmless import identity
from ...nn_functions import flatten_dense_tensors, unflatten_dense_tensors
from . import functions


def _functions(names: str, **others: Any) -> dict[str, Any]:
    return {name: getattr(functions, name) for name in names.split()} | others


_OF_COMPILER = "allow_in_graph assume_constant_result disable is_compiling list_backends reset set_stance"
_NO_SPAWN = RuntimeError("torch.multiprocessing.spawn is not in gradpack: a program runs in one process")

# By the name that `names.py` gives them.
STAND_INS: dict[str, Facade] = {
    "distributed_tensor": Facade(
        "`torch.distributed.tensor`: how tensors would be divided among ranks; they are not.",
        values=_functions("Partial Placement Replicate Shard"),
    ),
    "dynamo": Facade(
        "`torch._dynamo`: other names of what `torch.compiler` has.",
        {"is_dynamo_supported": True},
        values={name: getattr(compiler, name) for name in _OF_COMPILER.split()}
        | _functions("optimize optimize_assert", OptimizedModule=OptimizedModule),
    ),
    "fake_tensor": Facade(
        "`torch._subclasses.fake_tensor`: tensors without elements, which a compiler passes around. None is one here.",
        {"is_fake": False},
    ),
    "jit": Facade(
        "`torch.jit` without a compiler: what is scripted or traced is the function or module itself.",
        {"is_scripting": False, "is_tracing": False},
        values=_functions(
            "Attribute RecursiveScriptModule ScriptFunction ScriptModule annotate boolean_dispatch fork isinstance",
            Final=Final,
            wait=identity,
        ),
        blocks="fuser optimized_execution",
    ),
    "multiprocessing": Facade(
        "`torch.multiprocessing`: Python's own. Tensors that go to another process are copied, but for shared memory.",
        {"get_all_sharing_strategies": {"file_descriptor", "file_system"}, "get_sharing_strategy": "file_descriptor"},
        values=_functions("set_sharing_strategy"),
        errors={"spawn": _NO_SPAWN},  # a new process would not know that gradpack answers for torch
    ),
    "nn": Facade(
        "Names of `torch.nn` that stand for nothing here.", {"is_lazy": False}, values=_functions("DataParallel")
    ),
    "nn_parallel": Facade(
        "`torch.nn.parallel`: one device, so a model in parallel is the model, one level down.",
        values=_functions("DataParallel"),
    ),
    "nn_reduction": Facade(
        "`torch.nn._reduction`: reductions as numbers, and what the old flags of losses mean.",
        values=_functions("legacy_get_enum legacy_get_string", get_enum=number_of),
    ),
    "onnx": Facade("`torch.onnx`: export is not supported.", {"is_in_onnx_export": False}),
    "ops": Facade(
        "`torch.ops` itself: compiled operators are not loaded.",
        values={"loaded_libraries": set()},
        errors={
            "load_library": OSError("torch.ops.load_library: operators compiled for PyTorch do not run in gradpack")
        },
    ),
    "optim": Facade("Names of `torch.optim.optimizer` for annotations.", values=_functions("ParamsT _params_t")),
    "proxy_tensor": Facade(
        "`torch.fx.experimental.proxy_tensor`: whether a function is being traced is asked there: it never is.",
        {"get_proxy_mode": None},
    ),
    "serialization": Facade(
        "Names of `torch.serialization` for allowed globals: no effect, as loading never runs code.",
        {"add_safe_globals": None, "clear_safe_globals": None, "get_safe_globals": []},
        blocks="safe_globals",
    ),
    "utils": Facade(
        "The few functions of `torch._utils` that others use.",
        values=_functions(
            "_accumulate _element_size",
            ExceptionWrapper=ExceptionWrapper,
            _flatten_dense_tensors=flatten_dense_tensors,
            _unflatten_dense_tensors=unflatten_dense_tensors,
        ),
    ),
}
