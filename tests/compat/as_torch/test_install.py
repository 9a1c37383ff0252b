"""gradpack under the name `torch`, in this process, and what is left of it afterwards."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import pickle
import sys
import types

import numpy as np
import pytest

import gradpack


@pytest.fixture
def installed():
    with gradpack.install_as_torch(force=True) as handle:
        yield handle


@pytest.fixture
def torch(installed):
    return importlib.import_module("torch")


def test_imports_of_every_form(installed):
    import torch
    import torch.nn.functional as F
    from torch import Tensor, nn, optim
    from torch.nn import Module, Parameter
    from torch.nn.modules.batchnorm import _BatchNorm
    from torch.nn.modules.loss import _Loss
    from torch.nn.modules.utils import _pair
    from torch.optim.lr_scheduler import LRScheduler
    from torch.optim.optimizer import Optimizer
    from torch.utils.checkpoint import checkpoint
    from torch.utils.data import DataLoader

    assert Tensor is torch.Tensor is gradpack.Tensor and Module is nn.Module is gradpack.nn.Module
    assert F.relu is gradpack.nn.functional.relu and Parameter is gradpack.nn.Parameter
    assert optim.Adam is gradpack.optim.Adam and issubclass(optim.SGD, Optimizer) and LRScheduler
    assert issubclass(nn.BatchNorm2d, _BatchNorm) and issubclass(nn.MSELoss, _Loss) and _pair(3) == (3, 3)
    assert checkpoint is gradpack.utils.checkpoint.checkpoint and DataLoader is gradpack.utils.data.DataLoader


MODULES = (
    "amp autograd autograd.forward_ad autograd.function autograd.functional autograd.grad_mode autograd.graph backends "
    "backends.cudnn backends.mps compiler cuda cuda.amp distributed distributions fft func functional fx hub jit "
    "library linalg multiprocessing nn nn.attention nn.functional nn.init nn.modules nn.modules.conv nn.parallel "
    "nn.parameter nn.utils nn.utils.parametrizations nn.utils.parametrize nn.utils.rnn onnx optim optim.adamw "
    "optim.lr_scheduler overrides random return_types sparse special testing types utils utils._pytree "
    "utils.checkpoint utils.data utils.data.dataloader utils.data.dataset utils.data.distributed utils.data.sampler "
    "utils.dlpack utils.hooks version _C _dynamo _subclasses _subclasses.fake_tensor fx.experimental.proxy_tensor"
)


@pytest.mark.parametrize("name", MODULES.split())
def test_modules(installed, name):
    module = importlib.import_module(f"torch.{name}")
    assert module.__name__ == f"torch.{name}" and dir(module)
    for public in module.__all__:
        assert getattr(module, public) is not None or public in ("cuda", "hip", "xpu", "git_version", "newaxis")


def test_attributes_without_their_imports(torch):
    assert torch.nn.functional.relu is gradpack.relu or torch.nn.functional.relu
    assert torch.optim.lr_scheduler.StepLR is gradpack.optim.lr_scheduler.StepLR
    assert torch.autograd.Function is gradpack.autograd.Function
    assert torch.utils.data.Dataset is gradpack.utils.data.Dataset
    assert torch.ops.aten.mm is gradpack.ops.aten.mm and torch.utils.flop_counter.FlopCounterMode


def test_a_function_stays_where_a_module_has_its_name(torch):
    import torch.nn.utils.weight_norm
    import torch.utils.checkpoint

    assert isinstance(torch.nn.utils.weight_norm, types.FunctionType)
    assert isinstance(torch.utils.checkpoint, types.ModuleType)


def test_versions(torch):
    assert torch.__version__.endswith("+gradpack") and isinstance(torch.__version__, str)
    assert torch.__version__ >= "2.2" and torch.__version__ > (1, 13) and not torch.__version__ < "2.9.1"
    assert importlib.metadata.version("torch") == torch.__version__ == torch.version.__version__
    assert torch.version.cuda is None


def test_things_print_as_torch(torch):
    x = torch.ones(2, 3, dtype=torch.float64)
    assert repr(x.shape) == "torch.Size([2, 3])" and str(x.dtype) == "torch.float64"
    assert "dtype=torch.float64" in repr(x) and repr(x.max(0)).startswith("torch.return_types.max(")
    assert repr(torch.strided) == "torch.strided" and repr(torch.channels_last) == "torch.channels_last"


def test_packages_that_ask_for_the_module_of_a_class_find_torchs(torch):
    kinds = (torch.Tensor, torch.nn.Parameter, torch.dtype, torch.device, torch.Size, torch.Generator)
    assert [kind.__module__ for kind in kinds] == ["torch", "torch.nn.parameter", "torch", "torch", "torch", "torch._C"]
    assert str(type(torch.ones(1))) == "<class 'torch.Tensor'>"
    values = [torch.nn.Parameter(torch.ones(1)), torch.float32, torch.Size([2]), torch.device("cpu")]
    assert pickle.loads(pickle.dumps(values)) == values
    assert type(pickle.loads(pickle.dumps(values))[0]) is torch.nn.Parameter


def test_settings_of_accelerators(installed):
    import torch

    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.deterministic = True
    torch.backends.cuda.matmul.allow_tf32 = True
    assert torch.backends.cudnn.benchmark is True and gradpack.backends.cudnn.benchmark is True
    installed.uninstall()
    assert gradpack.backends.cudnn.benchmark is False and gradpack.backends.cudnn.deterministic is False


def test_torch_compile_makes_programs(torch):
    @torch.compile(dynamic=True, mode="reduce-overhead")
    def triple(x):
        assert not torch.compiler.is_compiling() or x.sum() > 0
        return 3 * x

    for _ in range(4):
        assert triple(torch.ones(2)).tolist() == [3, 3]
    assert "def program" in triple.source and "inductor" in torch.compiler.list_backends()
    torch.compiler.reset()
    torch.compiler.cudagraph_mark_step_begin()
    assert triple.source == ""


def test_scripts_give_back_what_they_are_given(torch):
    @torch.jit.script
    def double(x):
        return 2 * x

    model = torch.nn.Linear(2, 2)
    assert torch.jit.script(model) is model
    assert torch.jit.trace(model, torch.ones(1, 2)) is model and not isinstance(model, torch.jit.ScriptModule)
    assert double(torch.ones(1)).item() == 2
    assert torch.jit.is_scripting() is False and torch.compiler.is_compiling() is False


def test_lists_of_tensors(torch):
    a, b = [torch.ones(2), torch.full((3,), 2.0)], [torch.ones(2), torch.ones(3)]
    torch._foreach_add_(a, b, alpha=2)
    assert [t.tolist() for t in a] == [[3.0] * 2, [4.0] * 3]
    assert [t.tolist() for t in torch._foreach_mul(a, [2.0, 3.0])] == [[6.0] * 2, [12.0] * 3]
    assert torch._foreach_addcdiv_(a, b, b, torch.tensor([-1.0, -1.0])) is a
    assert a[0].tolist() == [2.0, 2.0] and torch._foreach_norm(b)[0].item() == pytest.approx(2**0.5)
    assert torch._foreach_maximum(a, 2.5)[0].tolist() == [2.5, 2.5]
    assert not hasattr(torch, "_foreach_nonsense")


def test_who_asks_for_tracing_hears_that_there_is_none(torch):
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, is_fake
    from torch.fx.experimental.proxy_tensor import get_proxy_mode, make_fx
    from torch.hub import HASH_REGEX

    x = torch.ones(2)
    assert not is_fake(x) and not isinstance(x, FakeTensor) and get_proxy_mode() is None
    with pytest.raises(RuntimeError, match=r"no torch\._subclasses\.FakeTensorMode"):
        FakeTensorMode()
    with pytest.raises(RuntimeError, match=r"no torch\.fx\.experimental\.proxy_tensor\.make_fx"):
        make_fx(torch.sin)
    assert HASH_REGEX.search("resnet-0a1b2c.pth").group(1) == "0a1b2c"


def test_what_is_not_there_is_named_with_the_line(torch):
    here = rf"\(line \d+ of {__file__}\)"
    with pytest.raises(AttributeError, match=rf"gradpack has no torch\.xyz {here}"):
        torch.xyz
    with pytest.raises(ModuleNotFoundError, match=rf"gradpack has no torch\.utils\.tensorboard {here}: event files"):
        import torch.utils.tensorboard
    with pytest.raises(ImportError, match=rf"gradpack has no torch\.xyz {here}"):
        from torch import xyz  # noqa: F401
    with pytest.raises(ModuleNotFoundError) as caught:
        import torch.a_o.quantization
    assert caught.value.name in ("torch.a_o", "torch.a_o.quantization")
    with pytest.raises(RuntimeError, match=rf"gradpack has no torch\.fx\.Graph {here}: there are no graphs of modules"):
        torch.fx.Graph()
    assert not hasattr(torch, "xyz") and getattr(torch, "xyz", 3) == 3
    assert importlib.util.find_spec("torch.utils.tensorboard") is None
    assert importlib.util.find_spec("torch.nn") is not None


@pytest.mark.parametrize("name", ["saved", "extend", "cli", "declare", "base", "as_torch"])
def test_what_torch_does_not_have_is_not_in_it(torch, name):
    assert not hasattr(torch, name)


def test_what_is_put_into_torch_stays_there(torch):
    torch.nn.functional.relu = "patched"
    torch.added = 1
    assert torch.nn.functional.relu == "patched" and gradpack.nn.functional.relu != "patched"
    assert not hasattr(gradpack, "added")


def test_the_name_is_given_back():
    assert gradpack.Tensor.__module__ == "gradpack" and gradpack.nn.Parameter.__module__ == "gradpack.nn.parameter"
    before = dict(sys.modules)
    finders = list(sys.meta_path)
    with gradpack.install_as_torch(force=True) as handle:
        import torch
        import torch.nn.functional

        with gradpack.install_as_torch(force=True):  # the outer one ends it
            pass
        assert sys.modules["torch"] is torch and "torch.nn.functional" in sys.modules
    handle.uninstall()
    assert sys.meta_path == finders
    assert {n: m for n, m in sys.modules.items() if n.startswith("torch")} == {
        n: m for n, m in before.items() if n.startswith("torch")
    }
    assert repr(gradpack.ones(1).shape) == "gradpack.Size([1])" and repr(gradpack.float32) == "gradpack.float32"


def test_modules_imported_meanwhile_are_forgotten(tmp_path, monkeypatch):
    package = tmp_path / "layers_of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("from .deep import Layer\n")
    (package / "deep.py").write_text("from torch import nn\nclass Layer(nn.Linear): pass\n")
    (tmp_path / "uses_layers.py").write_text("from layers_of_mine import Layer\n")
    (tmp_path / "plain_thing.py").write_text("x = 1\n")
    (tmp_path / "knows_us.py").write_text("import gradpack\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with gradpack.install_as_torch(force=True):
        for name in ("uses_layers", "plain_thing", "knows_us"):
            importlib.import_module(name)
    left = set(sys.modules)
    assert not left & {"layers_of_mine", "layers_of_mine.deep", "uses_layers"}
    assert {"plain_thing", "knows_us"} <= left
    for name in ("plain_thing", "knows_us"):
        del sys.modules[name]


def test_a_torch_that_is_there_already_is_not_hidden_by_accident(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    with pytest.raises(RuntimeError, match="torch is imported already, and tensors of the two do not mix"):
        gradpack.install_as_torch()
    there = sys.modules["torch"]
    with gradpack.install_as_torch(force=True):
        assert importlib.import_module("torch") is not there
    assert sys.modules["torch"] is there


def test_a_state_dict_goes_through_a_file(torch, tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    torch.save(model.state_dict(), tmp_path / "model.pt")
    other = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    found = torch.load(tmp_path / "model.pt", map_location=torch.device("cpu"), weights_only=True)
    assert str(other.load_state_dict(found)) == "<All keys matched successfully>"
    torch.testing.assert_close(other[0].weight, model[0].weight)
    again = pickle.loads(pickle.dumps(torch.ones(2)))
    assert isinstance(again, torch.Tensor) and np.asarray(again).tolist() == [1.0, 1.0]


class Settings:
    def __init__(self, rate, kind, start):
        self.rate, self.kind, self.start = rate, kind, start


class Marked(gradpack.Tensor):
    pass


def test_objects_of_any_class_are_written_and_refused_by_name_when_read(torch, tmp_path):
    path = tmp_path / "settings.bin"
    torch.save({"settings": Settings(0.5, torch.nn.ReLU, torch.ones(2)), "marked": Marked(torch.ones(1))}, path)
    with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL .*Settings was not an allowed global"):
        torch.load(path)
    with torch.serialization.safe_globals([Settings, torch.nn.ReLU, Marked]):
        found = torch.load(path)
    assert found["settings"].rate == 0.5 and found["settings"].kind is torch.nn.ReLU
    assert found["settings"].start.tolist() == [1, 1] and type(found["marked"]) is Marked
    with pytest.raises(pickle.PicklingError, match=r"cannot write <function .*<lambda>"):
        torch.save([lambda: 1], path)
    assert path.exists()
    with torch.serialization.safe_globals([Settings, torch.nn.ReLU, Marked]):
        assert torch.load(path)["settings"].rate == 0.5  # the file of before


def test_choosing_a_device(torch):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    assert torch.ones(2, device=device).device == device and torch.cuda.device_count() == 0
    with torch.autocast(device.type, enabled=False), torch.amp.autocast("cpu", enabled=False):
        pass
    assert (
        torch.distributed.is_available() is True
        and torch.distributed.is_initialized() is False
        and torch.get_num_threads() >= 1
    )


class TestFunctorch:
    def test_transforms_say_where_they_are_now(self, torch):
        import functorch

        x = torch.tensor([1.0, 2.0])
        with pytest.warns(FutureWarning, match="Please use `torch.func.grad` instead"):
            gradient = functorch.grad(lambda x: (x**2).sum())
        with pytest.warns(FutureWarning, match="Please use `torch.vmap` instead"):
            mapped = functorch.vmap(gradient)
        assert mapped(x.reshape(2, 1)).tolist() == [[2.0], [4.0]]

    def test_experimental(self, torch):
        from functorch.experimental import chunk_vmap, replace_all_batch_norm_modules_

        x = torch.arange(10.0).reshape(5, 2)
        assert torch.equal(chunk_vmap(torch.sin, chunks=3)(x), x.sin())
        assert replace_all_batch_norm_modules_ is torch.func.replace_all_batch_norm_modules_

    def test_a_module_as_a_function(self, torch):
        import functorch

        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 2))
        with pytest.warns(FutureWarning, match="functional_call"):
            call, params = functorch.make_functional(net)
        assert [p.shape for p in params] == [p.shape for p in net.parameters()] and params[0] is not net[0].weight
        x = torch.ones(1, 2)
        assert torch.equal(call(params, x), net(x))
        zeros = tuple(torch.zeros_like(p) for p in params)
        assert torch.equal(call(zeros, x), torch.zeros(1, 2)) and not torch.equal(call(params, x), torch.zeros(1, 2))

    def test_tied_parameters_are_one(self, torch):
        from torch._functorch.make_functional import make_functional

        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
        net[1].weight = net[0].weight
        call, params = make_functional(net, disable_autograd_tracking=True)
        assert len(params) == 3 and not any(p.requires_grad for p in params)
        doubled = (params[0] * 2, *params[1:])
        x = torch.ones(1, 2)
        expected = torch.nn.functional.linear(x, doubled[0], net[0].bias)
        assert torch.allclose(call(doubled, x), torch.nn.functional.linear(expected, doubled[0], net[1].bias))

    def test_buffers_and_ensembles(self, torch):
        from torch._functorch.make_functional import combine_state_for_ensemble, make_functional

        nets = [torch.nn.BatchNorm1d(2).eval() for _ in range(3)]
        with pytest.raises(RuntimeError, match="`model` has buffers"):
            make_functional(nets[0])
        call, params, buffers = combine_state_for_ensemble(nets)
        assert params[0].shape == (3, 2) and len(buffers) == 3 and not params[0].requires_grad
        x = torch.ones(4, 2)
        found = torch.vmap(call, in_dims=(0, 0, None))(params, buffers, x)
        assert torch.allclose(found, torch.stack([net(x) for net in nets]))
        nets[0].train()
        for given, text in (([], "at least one model"), (nets, "same training/eval mode")):
            with pytest.raises(RuntimeError, match=text):
                combine_state_for_ensemble(given)
        with pytest.raises(RuntimeError, match="of the same class"):
            combine_state_for_ensemble([torch.nn.Linear(1, 1), torch.nn.Identity()])

    def test_what_is_not_there(self, installed):
        import functorch

        with pytest.raises(
            RuntimeError,
            match=r"gradpack has no torch\.fx\.experimental\.proxy_tensor\.make_fx .*there are no graphs of modules",
        ):
            functorch.make_fx(lambda x: x)
        with pytest.raises(ImportError, match=r"gradpack has no functorch\.compiler"):
            importlib.import_module("functorch.compiler")

    def test_the_name_is_given_back(self):
        before = sys.modules.get("functorch")
        with gradpack.install_as_torch(force=True):
            assert importlib.import_module("functorch") is not before
        assert sys.modules.get("functorch") is before
