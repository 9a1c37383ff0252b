"""Functions of torch that change nothing here: decorators, registrations, and questions that have one answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FunctionType
from typing import Any

# By the module that has them. Functions that return their first argument; without one, or with a name, a decorator.
_GIVEN = {
    "torch._compile": "_disable_dynamo",
    "torch._dynamo": (
        "disable_nested_graph_breaks disallow_in_graph dont_skip_tracing forbid_in_graph nonstrict_trace "
        "register_backend run"
    ),
    "torch._dynamo.decorators": "leaf_function skip",
    "torch._jit_internal": "_copy_to_script_wrapper _drop _overload _overload_method",
    "torch._library": "triton_op wrap_triton",
    "torch.compiler": "nested_compile_region",
    "torch.distributed.elastic.multiprocessing.errors": "record",
    "torch.distributed.rpc.api": "_require_initialized",
    "torch.distributed.rpc.functions": "async_execution",
    "torch.fx": "wrap",
    "torch.jit": (
        "export freeze ignore interface optimize_for_inference script script_if_tracing trace trace_module unused"
    ),
    "torch.jit._script": "script_method",
    "torch.jit._trace": "_script_if_tracing",
    "torch.utils": "set_module",
}
# Functions of any arguments that return a decorator.
_DECORATORS = {
    "torch._decomp": "register_decomposition",
    "torch._inductor.lowering": "register_lowering",
    "torch._library.fake_class_registry": "register_fake_class",
    "torch._prims_common.wrappers": "elementwise_type_promotion_wrapper out_wrapper",
    "torch.compiler": "substitute_in_graph",
    "torch.distributed.tensor.experimental": "register_sharding",
    "torch.fx._compatibility": "compatibility",
    "torch.onnx._internal.torchscript_exporter.symbolic_helper": "parse_args quantized_args",
    "torch.utils._exposed_in": "exposed_in",
    "torch.utils.data": "functional_datapipe",
}
# Blocks of any arguments that do nothing, and decorators of the same name.
_BLOCKS = {
    "torch._dynamo.config": "patch",
    "torch._functorch.config": "patch",
    "torch._inductor.config": "patch",
    "torch.compiler.config": "patch",
    "torch.cuda.nvtx": "range",
    "torch.cuda.profiler": "profile",
}
# Functions of any arguments that do nothing.
_SILENT = {
    "torch._dynamo": ("graph_break mark_dynamic mark_static mark_static_address maybe_mark_dynamic reset_code_caches"),
    "torch._dynamo.decorators": "mark_unbacked",
    "torch.cuda.nvtx": "mark range_end range_pop range_push range_start",
    "torch.cuda.profiler": "start stop",
    "torch._logging._internal": "set_logs",
    "torch.compiler": "cudagraph_mark_step_begin load_cache_artifacts save_cache_artifacts",
    "torch.jit": "enable_onednn_fusion set_fusion_strategy",
    "torch.onnx._internal.torchscript_exporter.utils": "register_custom_op_symbolic unregister_custom_op_symbolic",
    "torch.serialization": "register_package",
}
# Functions of any arguments with their result.
_ANSWERS: dict[str, dict[str, Any]] = {
    "torch._C": {
        "_get_dispatch_mode": None,
        "_jit_set_profiling_executor": True,
        "_jit_set_profiling_mode": True,
        "_get_tracing_state": None,
        "_is_tracing": False,
        "_len_torch_dispatch_stack": 0,
        "_len_torch_function_stack": 0,
    },
    "torch._C._functorch": {
        "is_batchedtensor": False,
        "is_functorch_wrapped_tensor": False,
        "is_gradtrackingtensor": False,
        "peek_interpreter_stack": None,
    },
    "torch._inductor": {"list_mode_options": {}, "list_options": []},
    "torch._library.opaque_object": dict.fromkeys(
        ("is_opaque_type", "is_opaque_value", "is_opaque_reference_type", "is_opaque_value_type"), False
    ),
    "torch.backends.mha": {"get_fastpath_enabled": False},
    "torch.cuda": {"is_current_stream_capturing": False},
    "torch.utils.cpp_extension": {"is_ninja_available": False},
}


def identity(obj: Any) -> Any:
    """Return the argument."""
    return obj


def given(obj: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return the argument unchanged; a decorator if there is none, or only a name.

    Args:
        obj: a function, a class or a module.
        *args, **kwargs: of no effect.
    """
    return identity if obj is None or isinstance(obj, str) else obj


def decorator(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """Return a decorator that changes nothing.

    Args:
        *args, **kwargs: of no effect.
    """
    return identity


def silent(*args: Any, **kwargs: Any) -> None:
    """Do nothing.

    Args:
        *args, **kwargs: of no effect.
    """


@contextmanager
def block(*args: Any, **kwargs: Any) -> Iterator[None]:
    """Do nothing at the beginning and the end of this block, or of the function that this decorates.

    Args:
        *args, **kwargs: of no effect.
    """
    yield


def answer(value: Any) -> Callable[..., Any]:
    """Return a function of any arguments that returns a value."""

    def always(*args: Any, **kwargs: Any) -> Any:
        return value

    shown = f"a {type(value).__name__}" if repr(value)[0] == "<" else repr(value)
    said = "Do nothing and return None" if value is None else f"Return {shown}, always"
    always.__doc__ = f"{said}.\n\nArgs:\n    *args, **kwargs: of no effect."
    return always


@cache
def found() -> dict[str, Callable[..., Any]]:
    """Return the functions by the full name of what they stand for."""
    answers = {f"{module}.{n}": answer(value) for module, named in _ANSWERS.items() for n, value in named.items()}
    listed = answers | {
        f"{module}.{name}": function
        for function, modules in ((given, _GIVEN), (decorator, _DECORATORS), (block, _BLOCKS), (silent, _SILENT))
        for module, names in modules.items()
        for name in names.split()
    }
    return {path: _named(function, path) for path, function in listed.items()}


def _named(function: Any, path: str) -> Callable[..., Any]:
    """Return a copy of a function that has the name of what it stands for."""
    module, _, name = path.rpartition(".")
    made = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    vars(made).update(vars(function))
    made.__doc__, made.__annotations__, made.__qualname__ = function.__doc__, function.__annotations__, name
    made.__module__ = module.replace("torch", __name__.partition(".")[0], 1)
    return made
