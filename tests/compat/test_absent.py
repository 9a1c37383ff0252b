"""Names of torch that gradpack does not have: the table of them, and what stands for them."""

from __future__ import annotations

import abc
import enum
import subprocess
import sys
import typing
from importlib import import_module

import pytest

import gradpack
from gradpack.compat import torch_names
from gradpack.compat.absent import Absent

LIBRARIES = ("torch", "gradpack")


@pytest.fixture(params=LIBRARIES)
def library(request):
    if request.param == "torch":
        with gradpack.install_as_torch(force=True):
            yield "torch"
    else:
        yield "gradpack"


def test_every_name_can_be_imported(library):
    refused = []
    for module in torch_names.modules():
        if (library == "gradpack" and not module.startswith("torch.")) or module.startswith("torch.ops"):
            continue
        found = import_module(library + module[5:] if module.startswith("torch") else module)
        refused += [f"{module}.{name}" for name in torch_names.names(module) if not hasattr(found, name)]
    assert not refused


def test_what_gradpack_has_is_what_is_found(library):
    torch = import_module(library)
    assert torch.nn.modules.linear.F is torch.nn.functional and torch.nn.utils.rnn.Tensor is gradpack.Tensor
    assert torch.nn.modules.conv.Module is gradpack.nn.Module
    assert torch.distributions.beta.Dirichlet is gradpack.distributions.Dirichlet
    assert torch.torch is torch
    assert torch.onnx.is_in_onnx_export() is False and torch.distributed.is_initialized() is False


def test_a_stand_in_is_a_class_that_refuses_calls(library):
    fx = import_module(f"{library}.fx")
    assert isinstance(fx.Node, Absent) and fx.Node is import_module(f"{library}.fx.node").Node
    assert repr(fx.Node) == "<torch.fx.Node, which gradpack does not have>"
    assert not isinstance(gradpack.ones(1), fx.Node) and {fx.Node: 1}[fx.Node] == 1 and fx.Node != fx.Graph
    for use in (fx.Node, lambda: fx.Node + 1, lambda: 1 - fx.Node, lambda: fx.Node < 2, lambda: list(fx.Node)):
        with pytest.raises(RuntimeError, match=rf"gradpack has no torch\.fx\.Node \(line \d+ of {__file__}\)"):
            use()
    with pytest.raises(RuntimeError, match=r"gradpack has no torch\.fx\.Graph\.lint"):
        fx.Graph.lint()
    assert not hasattr(fx.Graph, "_private")


def test_classes_derive_from_stand_ins_and_annotations_name_them(library):
    fx = import_module(f"{library}.fx")

    class Mine(fx.Tracer, abc.ABC):
        def __init__(self) -> None:
            self.found = 3

    class Bare(fx.Tracer):
        pass

    hints = (fx.Node | None, typing.Optional[fx.Graph], list[fx.Proxy], fx.Node[int], typing.Callable[[fx.Node], int])  # noqa: UP045
    assert Mine().found == 3 and isinstance(Mine(), fx.Tracer) and issubclass(Mine, fx.Tracer)
    assert typing.get_args(hints[0]) == (fx.Node, type(None)) and typing.get_args(hints[2]) == (fx.Proxy,)
    with pytest.raises(RuntimeError, match=r"gradpack has no torch\.fx\.Tracer"):
        Bare()


def test_decorators_give_back_what_they_are_given(library):
    torch = import_module(library)

    def f(x):
        return x

    assert torch.fx.wrap(f) is torch.jit.script(f) is torch.compiler.disable(f) is torch._dynamo.disable(f) is f
    assert torch.jit.unused(f) is torch.jit.ignore(f) is torch.jit.export(f) is torch.compiler.allow_in_graph(f) is f
    assert torch.compiler.disable(recursive=False)(f) is f
    with torch._dynamo.config.patch(suppress_errors=True), torch._inductor.config.patch("debug", True):
        assert torch._dynamo.mark_dynamic(f, 0) is torch._logging.set_logs(graph_breaks=True) is None


def test_reductions_as_numbers():
    found = import_module("gradpack").nn._reduction
    assert [found.get_enum(name) for name in ("none", "mean", "sum")] == [0, 1, 2]
    assert found.legacy_get_string(None, False, emit_warning=False) == "none"
    assert found.legacy_get_enum(False, None, emit_warning=False) == 2
    with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
        assert found.legacy_get_string(None, None) == "mean"
    with pytest.raises(ValueError, match="x is not a valid value for reduction"):
        found.get_enum("x")


def test_other_names_of_the_compiler():
    import gradpack

    torch = import_module("gradpack")
    dynamo = torch._dynamo
    double = dynamo.optimize("inductor", nopython=True)(lambda x: x * 2)
    for _ in range(3):
        assert double(torch.ones(1)) == 2
    assert double.fullgraph and len(double.kept) == 1
    dynamo.reset()
    assert not double.kept and dynamo.is_compiling is gradpack.compiler.is_compiling
    assert isinstance(torch.compile(torch.nn.ReLU()), dynamo.OptimizedModule)


def test_values_exceptions_and_enumerations_are_those_of_torch(library):
    torch = import_module(library)
    assert torch.serialization.DEFAULT_PROTOCOL == 2 and torch._dynamo.config.suppress_errors is False
    torch._dynamo.config.suppress_errors = True
    assert torch._dynamo.config.suppress_errors is True
    torch._dynamo.config.suppress_errors = False
    strategy = torch.distributed.fsdp.ShardingStrategy
    assert issubclass(strategy, enum.Enum) and strategy.FULL_SHARD.value == 1
    with pytest.raises(torch._dynamo.exc.Unsupported, match="said"):
        raise torch._dynamo.exc.Unsupported("said")
    assert issubclass(torch._dynamo.exc.Unsupported, RuntimeError)


def test_dtypes_of_which_there_are_no_tensors_have_their_names(library):
    torch = import_module(library)
    assert isinstance(torch.qint32, torch.dtype) and repr(torch.qint32) == f"{library}.qint32"
    assert (torch.int4.is_signed, torch.uint4.is_signed, torch.qint32.itemsize) == (True, False, 4)
    assert torch.bit.name == "uint1" and torch.float8_e8m0fnu.is_floating_point and torch.bits8 is torch.bits8
    with pytest.raises(RuntimeError, match=r"zeros\(\).*qint32"):
        torch.zeros(2, dtype=torch.qint32)


def test_containers_of_python_are_taken_apart_under_the_names_that_packages_use(library):
    pytree = import_module(f"{library}.utils._pytree")
    assert pytree._dict_flatten({"a": 1}) == ([1], ["a"]) and pytree._dict_unflatten([1], ["a"]) == {"a": 1}
    assert pytree._list_flatten([1]) == ([1], None) and pytree._tuple_unflatten([1], None) == (1,)
    assert pytree._ordereddict_flatten is pytree._odict_flatten
    assert [str(key) for key, _ in pytree._list_flatten_with_keys([5])[0]] == ["[0]"]
    assert not hasattr(pytree, "_set_flatten")


def test_small_names_of_the_core(library):
    torch = import_module(library)
    assert torch._C._get_accelerator().type == "cpu" and torch._C._TensorMeta is type(torch.Tensor)
    assert torch._C._jit_set_profiling_executor(False) is True


def test_sparse_constructors_of_one_dtype(library):
    torch = import_module(library)
    indices, values = torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0])
    made = torch.sparse.FloatTensor(indices, values, torch.Size([2, 3]))
    assert made.to_dense().tolist() == [[0, 1, 0], [2, 0, 0]]
    assert isinstance(made, torch.sparse.FloatTensor) and not isinstance(made, torch.sparse.DoubleTensor)
    assert not isinstance(values, torch.sparse.FloatTensor)
    assert torch.sparse.DoubleTensor(2, 3).shape == torch.sparse.DoubleTensor(torch.Size([2, 3])).shape == (2, 3)
    assert torch.dsmm(made, torch.ones(3, 1)).tolist() == [[1], [2]]
    wrapped = import_module(f"{library}._utils").ExceptionWrapper((ValueError, ValueError("no"), None), "in a test")
    with pytest.raises(ValueError, match="Caught ValueError in a test"):
        wrapped.reraise()


def test_ranges_of_profilers_are_blocks_and_decorators(library):
    nvtx = import_module(f"{library}.cuda.nvtx")

    @nvtx.range("named")
    def f(x):
        with nvtx.range("inner"):
            return x + 1

    assert f(1) == 2 and nvtx.range_push("a") is None and nvtx.range_pop() is None


def test_unknown_names_are_refused_with_a_suggestion(library):
    torch = import_module(library)
    for module, name, meant in (
        (torch, "tensr", "tensor"),
        (torch.nn, "Lineer", "Linear"),
        (torch.fx, "Tracr", "Tracer"),
    ):
        with pytest.raises(AttributeError, match=rf"Did you mean: '{meant}'\?"):
            getattr(module, name)
        scope = {}
        with pytest.raises(ImportError, match=rf"Did you mean: '{meant}'\?"):
            exec(f"from {module.__name__} import {name}", scope)
    with pytest.raises(AttributeError) as caught:
        torch.nothing_is_like_this
    assert "mean" not in str(caught.value)
    assert not hasattr(torch, "__wrapped__") and not hasattr(torch.nn, "_no_such_name")


def test_the_table_is_not_read_for_what_is_there():
    code = (
        "import sys, gradpack as torch; from gradpack import nn, optim; torch.nn.Linear(1, 1); torch.linalg.norm; "
        "from gradpack.utils.data import DataLoader; import gradpack.nn.functional; "
        "table = 'gradpack.compat.torch_names'; assert table not in sys.modules; torch.fx; assert table in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
