"""Modules against those of torch: printouts, attribute rules, finding, conversion, state."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import OrderedDict
from typing import Any

import pytest
from tests.oracle.both import LIBRARIES, changed, linear, net, outcome

import gradpack

torch = pytest.importorskip("torch")

MODULES = {
    "Linear": lambda nn: nn.Linear(2, 3, bias=False),
    "Identity": lambda nn: nn.Identity(3, a=4),
    "Embedding": lambda nn: nn.Embedding(3, 4),
    "Embedding with all": lambda nn: nn.Embedding(3, 4, 1, 2.0, 3.0, scale_grad_by_freq=True, sparse=True),
    "Embedding from the end": lambda nn: nn.Embedding(3, 4, padding_idx=-1),
    "LayerNorm": lambda nn: nn.LayerNorm(3),
    "LayerNorm plain": lambda nn: nn.LayerNorm([3, 4], elementwise_affine=False),
    "LayerNorm without bias": lambda nn: nn.LayerNorm((3, 4), eps=0.1, bias=False),
    "RMSNorm": lambda nn: nn.RMSNorm(3),
    "Dropout": lambda nn: nn.Dropout(0.1, True),
    "Flatten": lambda nn: nn.Flatten(),
    "Unflatten": lambda nn: nn.Unflatten(1, (2, 3)),
    "ReLU": lambda nn: nn.ReLU(),
    "ReLU in place": lambda nn: nn.ReLU(True),
    "GELU": lambda nn: nn.GELU("tanh"),
    "SiLU": lambda nn: nn.SiLU(True),
    "Tanh": lambda nn: nn.Tanh(),
    "Sigmoid": lambda nn: nn.Sigmoid(),
    "Softplus": lambda nn: nn.Softplus(2.0, 10.0),
    "Softmax": lambda nn: nn.Softmax(1),
    "LogSoftmax": lambda nn: nn.LogSoftmax(),
    "LeakyReLU": lambda nn: nn.LeakyReLU(0.2, True),
    "ELU": lambda nn: nn.ELU(0.5),
    "MSELoss": lambda nn: nn.MSELoss(),
    "CrossEntropyLoss": lambda nn: nn.CrossEntropyLoss(),
    "NLLLoss": lambda nn: nn.NLLLoss(),
    "L1Loss": lambda nn: nn.L1Loss(),
    "Sequential": lambda nn: nn.Sequential(nn.Linear(1, 2), nn.Sequential(nn.ReLU(), nn.Tanh())),
    "Sequential empty": lambda nn: nn.Sequential(),
    "Sequential with names": lambda nn: nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh())),
    "ModuleList": lambda nn: nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU(), nn.Sequential(nn.Tanh())]),
    "ModuleList empty": lambda nn: nn.ModuleList(),
    "ModuleList repeated": lambda nn: nn.ModuleList(nn.Sequential(nn.Tanh(), nn.ReLU()) for _ in range(3)),
    "ModuleDict": lambda nn: nn.ModuleDict({"b": nn.ReLU(), "a": nn.Linear(1, 1)}),
    "Hardtanh(0.0, 1.0, True)": lambda nn: nn.Hardtanh(0.0, 1.0, True),
    "ReLU6()": lambda nn: nn.ReLU6(),
    "ReLU6(True)": lambda nn: nn.ReLU6(True),
    "Mish(True)": lambda nn: nn.Mish(True),
    "CELU(2.0)": lambda nn: nn.CELU(2.0),
    "SELU()": lambda nn: nn.SELU(),
    "Hardswish(True)": lambda nn: nn.Hardswish(True),
    "Hardsigmoid()": lambda nn: nn.Hardsigmoid(),
    "Hardshrink()": lambda nn: nn.Hardshrink(),
    "Softshrink(0.3)": lambda nn: nn.Softshrink(0.3),
    "LogSigmoid()": lambda nn: nn.LogSigmoid(),
    "PReLU(3)": lambda nn: nn.PReLU(3),
    "Softsign()": lambda nn: nn.Softsign(),
    "Tanhshrink()": lambda nn: nn.Tanhshrink(),
    "Threshold(1.0, 2.0, True)": lambda nn: nn.Threshold(1.0, 2.0, True),
    "Softmin(0)": lambda nn: nn.Softmin(0),
    "GLU(1)": lambda nn: nn.GLU(1),
    "AlphaDropout(0.2)": lambda nn: nn.AlphaDropout(0.2),
    "Bilinear(2, 3, 4)": lambda nn: nn.Bilinear(2, 3, 4),
    "Module": lambda nn: nn.Module(),
}


@pytest.mark.parametrize("name", MODULES)
def test_printout(name: str) -> None:
    assert repr(MODULES[name](gradpack.nn)) == repr(MODULES[name](torch.nn))


def test_printout_of_parameter_containers() -> None:
    for job in (
        lambda lib: lib.nn.ParameterList([lib.ones(2, 3), 5, lib.nn.Parameter(lib.zeros(()))]),
        lambda lib: lib.nn.ParameterList([lib.ones(2)]),
        lambda lib: lib.nn.ParameterList([lib.nn.ParameterList([lib.ones(2)])]),
    ):
        ours, theirs = (repr(job(lib)) for lib in LIBRARIES)
        assert ours.replace("gradpack.", "torch.") == theirs


def test_printout_with_extra_lines_and_missing_children() -> None:
    def build(lib: Any) -> str:
        class Net(lib.nn.Module):  # type: ignore[misc,name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.a = lib.nn.Linear(1, 1)
                self.register_module("b", None)

            def extra_repr(self) -> str:
                return "x=1\ny=2"

        return repr(Net())

    assert build(gradpack) == build(torch)


def after(lib: Any, change: Any) -> Any:
    """The registries of a layer that was changed, or what the change raised."""
    layer = linear(lib)
    layer.register_buffer("buffer", lib.ones(1))
    layer.child = lib.nn.ReLU()
    layer.plain = 5
    change(lib, layer)
    return [
        dict(layer._parameters),
        dict(layer._buffers),
        dict(layer._modules),
        layer._non_persistent_buffers_set,
        sorted(name for name in layer.__dict__ if name in ("plain", "new", "weight", "child", "buffer")),
    ]


VALUES = {
    "parameter": lambda lib: lib.nn.Parameter(lib.zeros(3)),
    "buffer": lambda lib: lib.nn.Buffer(lib.zeros(3)),
    "transient": lambda lib: lib.nn.Buffer(lib.zeros(3), persistent=False),
    "tensor": lambda lib: lib.zeros(3),
    "module": lambda lib: lib.nn.Tanh(),
    "number": lambda lib: 3,
    "None": lambda lib: None,
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", ["weight", "buffer", "child", "plain", "new"])
def test_assigning_an_attribute(name: str, value: str) -> None:
    def assign(lib: Any, layer: Any) -> None:
        setattr(layer, name, VALUES[value](lib))

    ours, theirs = (outcome(lambda lib: after(lib, assign), lib) for lib in LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("name", ["weight", "buffer", "child", "plain", "new"])
def test_deleting_an_attribute(name: str) -> None:
    ours, theirs = (outcome(lambda lib: after(lib, lambda _, layer: delattr(layer, name)), lib) for lib in LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", ["weight", "buffer", "child", "plain", "new", "a.b", "", 3, "forward"])
@pytest.mark.parametrize("method", ["register_parameter", "register_buffer", "add_module", "register_module"])
def test_registering(method: str, name: Any, value: str) -> None:
    def register(lib: Any, layer: Any) -> None:
        getattr(layer, method)(name, VALUES[value](lib))

    ours, theirs = (outcome(lambda lib: after(lib, register), lib) for lib in LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("value", VALUES)
def test_assigning_before_init(value: str) -> None:
    def build(lib: Any) -> Any:
        class Net(lib.nn.Module):  # type: ignore[misc,name-defined]
            def __init__(self) -> None:
                self.new = VALUES[value](lib)

        return sorted(Net().__dict__)

    ours, theirs = (outcome(build, lib) for lib in LIBRARIES)
    assert ours == theirs


JOBS = {
    "parameters": lambda lib: [n for n, _ in net(lib).named_parameters()],
    "parameters twice": lambda lib: [n for n, _ in net(lib).named_parameters("x", remove_duplicate=False)],
    "parameters here": lambda lib: [n for n, _ in net(lib)[0].named_parameters(recurse=False)],
    "buffers": lambda lib: list(net(lib).named_buffers()),
    "modules": lambda lib: list(net(lib).named_modules()),
    "modules twice": lambda lib: [n for n, _ in net(lib).named_modules(prefix="p", remove_duplicate=False)],
    "modules unnamed": lambda lib: list(net(lib).modules()),
    "children": lambda lib: list(net(lib).named_children()),
    "state": lambda lib: net(lib).state_dict(),
    "state with prefix": lambda lib: list(net(lib).state_dict(prefix="p.")),
    "state into another": lambda lib: list(net(lib).state_dict(destination=OrderedDict(a=1))),
    "metadata": lambda lib: dict(net(lib).state_dict()._metadata),
    "kept": lambda lib: [type(v).__name__ for v in net(lib).state_dict(keep_vars=True).values()],
    "submodule": lambda lib: net(lib).get_submodule("1.1"),
    "no submodule": lambda lib: net(lib).get_submodule("1.7"),
    "itself": lambda lib: net(lib).get_submodule(""),
    "submodule of a parameter": lambda lib: net(lib).get_submodule("0.weight"),
    "parameter": lambda lib: net(lib).get_parameter("0.bias"),
    "parameter of a buffer": lambda lib: net(lib).get_parameter("steps"),
    "no parameter": lambda lib: net(lib).get_parameter("0.x"),
    "buffer": lambda lib: net(lib).get_buffer("steps"),
    "buffer of a parameter": lambda lib: net(lib).get_buffer("0.weight"),
    "set submodule": lambda lib: changed(net(lib), lambda n: n.set_submodule("1.0", lib.nn.Tanh())),
    "set new submodule": lambda lib: changed(net(lib), lambda n: n.set_submodule("1.9", lib.nn.Tanh())),
    "set strictly": lambda lib: changed(net(lib), lambda n: n.set_submodule("1.9", lib.nn.Tanh(), strict=True)),
    "set nothing": lambda lib: changed(net(lib), lambda n: n.set_submodule("", lib.nn.Tanh())),
    "set a number": lambda lib: changed(net(lib), lambda n: n.set_submodule("1.0", 3)),
    "to float64": lambda lib: net(lib).to(lib.float64).state_dict(),
    "to a tensor": lambda lib: net(lib).to(lib.ones(1, dtype=lib.float64)).state_dict(),
    "to the cpu": lambda lib: net(lib).to("cpu", lib.float16).state_dict(),
    "to by names": lambda lib: net(lib).to(device="cpu", dtype=lib.float64).state_dict(),
    "to an integer": lambda lib: net(lib).to(lib.int32),
    "double": lambda lib: net(lib).double().state_dict(),
    "half": lambda lib: net(lib).half().state_dict(),
    "bfloat16": lambda lib: {k: v.dtype.itemsize for k, v in net(lib).bfloat16().state_dict().items()},
    "float": lambda lib: net(lib).double().float().state_dict(),
    "type": lambda lib: {k: v.dtype.itemsize for k, v in net(lib).type(lib.float64).state_dict().items()},
    "to a device that is not there": lambda lib: net(lib).cuda(7),
    "to an accelerator that is not there": lambda lib: net(lib).cuda(),
    "train": lambda lib: [m.training for m in net(lib).eval().modules()],
    "train with a number": lambda lib: net(lib).train(1),
    "apply": lambda lib: applied(net(lib)),
    "requires_grad_": lambda lib: [p.requires_grad for p in net(lib).requires_grad_(False).parameters()],
    "dir": lambda lib: [n for n in dir(net(lib)) if n in ("0", "steps", "shared", "_modules")],
    "init with arguments": lambda lib: lib.nn.Module(3),
    "init with names": lambda lib: lib.nn.Module(a=3),
    "no forward": lambda lib: lib.nn.Module()(1),
    "attribute": lambda lib: lib.nn.Module().nothing,
}


def applied(module: Any) -> list[str]:
    order: list[str] = []
    module.apply(lambda m: order.append(type(m).__name__))
    return order


@pytest.mark.parametrize("name", JOBS)
def test_what_modules_say_of_themselves(name: str) -> None:
    ours, theirs = (outcome(JOBS[name], lib) for lib in LIBRARIES)
    assert ours == theirs


def without_init(lib: Any) -> Any:
    class Net(lib.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            pass

        def forward(self, x: Any) -> Any:
            return x

    return Net()


@pytest.mark.parametrize(
    "use",
    [
        lambda m: m(1),
        lambda m: m.training,
        lambda m: list(m.parameters()),
        lambda m: m.state_dict(),
        lambda m: m.eval(),
        repr,
    ],
)
def test_using_a_module_without_init(use: Any) -> None:
    ours, theirs = (outcome(lambda lib: use(without_init(lib)), lib) for lib in LIBRARIES)
    assert ours is theirs is AttributeError


def test_conversion_keeps_the_parameter_and_converts_its_gradient() -> None:
    for lib in LIBRARIES:
        layer = linear(lib)
        weight = layer.weight
        layer(lib.ones(1, 2)).sum().backward()
        layer.double()
        assert layer.weight is weight
        assert weight.dtype == lib.float64
        assert weight.grad.dtype == lib.float64
        layer(lib.ones(1, 2, dtype=lib.float64)).sum().backward()
        assert weight.grad.tolist() == [[2, 2], [2, 2]]


LOADS = {
    "good": lambda lib: {"weight": lib.ones(2, 2), "bias": lib.zeros(2)},
    "missing": lambda lib: {"weight": lib.ones(2, 2)},
    "unexpected": lambda lib: {"weight": lib.ones(2, 2), "bias": lib.zeros(2), "x": 1, "y.z": 2},
    "shape": lambda lib: {"weight": lib.ones(3), "bias": lib.zeros(2)},
    "not a tensor": lambda lib: {"weight": [1], "bias": lib.zeros(2)},
    "not a dict": lambda lib: 3,
    "another dtype": lambda lib: {"weight": lib.ones(2, 2, dtype=lib.float64), "bias": lib.tensor([1, 2])},
}


@pytest.mark.parametrize("given", LOADS)
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("assign", [True, False])
def test_loading(given: str, strict: bool, assign: bool) -> None:
    def load(lib: Any) -> Any:
        layer = linear(lib)
        weight = layer.weight
        result = layer.load_state_dict(LOADS[given](lib), strict=strict, assign=assign)
        kinds = [type(p).__name__ for p in layer.parameters()]
        return [repr(result), list(result), list(layer.parameters()), layer.weight is weight, kinds]

    ours, theirs = (outcome(load, lib) for lib in LIBRARIES)
    assert ours == theirs


def test_messages_of_loading() -> None:
    def message(lib: Any) -> str:
        with pytest.raises(RuntimeError) as error:
            net(lib).load_state_dict({"0.weight": lib.ones(3), "nonsense": 1})
        return str(error.value)

    assert message(gradpack).replace("gradpack.", "torch.") == message(torch)


def test_post_hook_forgives_missing_keys() -> None:
    def load(lib: Any) -> str:
        layer = linear(lib)
        layer.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
        return repr(layer.load_state_dict({"weight": lib.ones(2, 2)}))

    assert load(gradpack) == load(torch)


def test_copies_and_pickles() -> None:
    for lib in LIBRARIES:
        model = net(lib)
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert repr(other) == repr(model)
            assert other[1][1].weight is other[0].weight
            assert other[0].weight is not model[0].weight
            with lib.no_grad():
                other[0].weight.zero_()
            assert model[0].weight.abs().sum() > 0
            assert list(other.state_dict()) == list(model.state_dict())


def test_names_of_the_public_methods() -> None:
    """Everything that torch's Module has and that means something without a compiler or other devices."""
    elsewhere = {"ipu", "mtia", "xpu", "compile", "share_memory", "dump_patches", "call_super_init"}
    elsewhere |= {"register_backward_hook", "T_destination"}
    names = {name for name in dir(torch.nn.Module) if not name.startswith("_")}
    assert names - elsewhere - set(dir(gradpack.nn.Module)) == set()


def test_no_warning_on_the_way() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = gradpack.nn.Sequential(gradpack.nn.Linear(2, 2), gradpack.nn.ReLU())
        optimizer = gradpack.optim.AdamW(model.parameters())
        model(gradpack.ones(1, 2)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
