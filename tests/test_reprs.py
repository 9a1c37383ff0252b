"""Everything public has a text that says what it is, whatever state it is in."""

from __future__ import annotations

import contextlib
import enum
import importlib
import inspect
import itertools
import tempfile

import pytest

import gradpack as torch
from gradpack.base import dtypes
from gradpack.utils import checkpoint
from tests.test_public_api import MODULES, names_of

nn, optim, distributions = torch.nn, torch.optim, torch.distributions


def classes():
    """Every public class, by the name that users have."""
    found = {}
    for module in MODULES:
        owner = importlib.import_module(module)
        for name in names_of(module):
            value = getattr(owner, name)
            if inspect.isclass(value):
                found[f"{module}.{name}"] = value
    return found


CLASSES = classes()


def weight():
    return torch.ones(2, requires_grad=True)


def linear():
    return nn.Linear(2, 2)


def optimizer():
    return optim.SGD([weight()], lr=0.1)


def sequence():
    o = optimizer()
    return o, [optim.lr_scheduler.ConstantLR(o), optim.lr_scheduler.ConstantLR(o)], [2]


def alone(make, ranks=1):
    """What the first of some ranks makes."""

    def rank(r):
        torch.distributed.init_process_group("threads")
        return make()

    return torch.distributed.threads.spawn(rank, nprocs=ranks)[0]


class Parametrization(nn.Module):
    def forward(self, x):
        return x * 2


# Arguments of classes that cannot be made without. Those that users never make themselves are in OTHERS.
ARGUMENTS = {
    "gradpack.serialization.safe_globals": lambda: ([dict],),
    "gradpack.Size": lambda: ([1, 2],),
    "gradpack.Tensor": lambda: (2, 3),
    "gradpack.autocast": lambda: ("cpu",),
    "gradpack.amp.autocast": lambda: ("cpu",),
    "gradpack.device": lambda: ("cpu",),
    "gradpack.finfo": lambda: (torch.float32,),
    "gradpack.iinfo": lambda: (torch.int64,),
    "gradpack.set_grad_enabled": lambda: (True,),
    "gradpack.autograd.set_grad_enabled": lambda: (True,),
    "gradpack.autograd.set_multithreading_enabled": lambda: (True,),
    "gradpack.autograd.set_detect_anomaly": lambda: (False,),
    "gradpack.autograd.saved_tensors_hooks": lambda: (abs, abs),
    "gradpack.autograd.graph.saved_tensors_hooks": lambda: (abs, abs),
    "gradpack.autograd.graph.GradientEdge": lambda: (weight().exp().grad_fn, 0),
    "gradpack.autograd.graph.GraphDrawing": lambda: ([], [], 0),
    "gradpack.autograd.profiler.FunctionEvent": lambda: (1, "mul", 1, 0.0, 2.0),
    "gradpack.autograd.profiler.record_function": lambda: ("name", "args"),
    "gradpack.autograd.profiler_util.FunctionEvent": lambda: (1, "mul", 1, 0.0, 2.0),
    "gradpack.autograd.profiler_util.Interval": lambda: (0.0, 1.0),
    "gradpack.autograd.profiler_util.Kernel": lambda: ("kernel", 0, 1.0),
    "gradpack.autograd.profiler_util.MemRecordsAcc": lambda: ([],),
    "gradpack.autograd.profiler.MemRecordsAcc": lambda: ([],),
    "gradpack.profiler.record_function": lambda: ("name",),
    "gradpack.nn.LSTMCell": lambda: (2, 3),
    "gradpack.optim.Optimizer": lambda: ([weight()], {}),
    "gradpack.optim.Muon": lambda: ([torch.ones(2, 2, requires_grad=True)],),
    "gradpack.saved.SavedInfo": lambda: (weight(), ("MulBackward0", "other")),
    "gradpack.utils.data.BatchSampler": lambda: ([0, 1, 2], 2, False),
    "gradpack.utils.data.ChainDataset": lambda: ([[1]],),
    "gradpack.utils.data.ConcatDataset": lambda: ([[1], [2]],),
    "gradpack.utils.data.DataLoader": lambda: ([1, 2],),
    "gradpack.utils.data.DistributedSampler": lambda: ([1, 2], 2, 0),
    "gradpack.utils.data.RandomSampler": lambda: ([1, 2],),
    "gradpack.utils.data.SequentialSampler": lambda: ([1, 2],),
    "gradpack.utils.data.StackDataset": lambda: ([1], [2]),
    "gradpack.utils.data.Subset": lambda: ([1, 2], [0]),
    "gradpack.utils.data.SubsetRandomSampler": lambda: ([0, 1],),
    "gradpack.utils.data.WeightedRandomSampler": lambda: ([0.5, 0.5], 2),
}
DISTRIBUTIONS = {
    "Bernoulli": lambda: (0.3,),
    "Binomial": lambda: (3, torch.tensor(0.3)),
    "CatTransform": lambda: ([], 0),
    "Categorical": lambda: (torch.ones(2),),
    "ComposeTransform": lambda: ([distributions.ExpTransform()],),
    "ContinuousBernoulli": lambda: (0.3,),
    "CumulativeDistributionTransform": lambda: (distributions.Normal(0.0, 1.0),),
    "Dirichlet": lambda: (torch.ones(2),),
    "Geometric": lambda: (0.3,),
    "GeneralizedPareto": lambda: (0.0, 1.0, 0.5),
    "Independent": lambda: (distributions.Normal(torch.zeros(2), 1.0), 1),
    "IndependentTransform": lambda: (distributions.ExpTransform(), 1),
    "LKJCholesky": lambda: (3,),
    "LogisticNormal": lambda: (torch.zeros(2), torch.ones(2)),
    "LowRankMultivariateNormal": lambda: (torch.zeros(2), torch.ones(2, 1), torch.ones(2)),
    "MixtureSameFamily": lambda: (distributions.Categorical(torch.ones(2)), distributions.Normal(torch.ones(2), 1.0)),
    "Multinomial": lambda: (3, torch.ones(2)),
    "MultivariateNormal": lambda: (torch.zeros(2), torch.eye(2)),
    "NegativeBinomial": lambda: (3, torch.tensor(0.3)),
    "OneHotCategorical": lambda: (torch.ones(2),),
    "OneHotCategoricalStraightThrough": lambda: (torch.ones(2),),
    "RelaxedBernoulli": lambda: (torch.tensor(1.0), 0.3),
    "RelaxedOneHotCategorical": lambda: (torch.tensor(1.0), torch.ones(2)),
    "ReshapeTransform": lambda: ((2, 3), (6,)),
    "StackTransform": lambda: ([distributions.ExpTransform()],),
    "TransformedDistribution": lambda: (distributions.Normal(0.0, 1.0), distributions.ExpTransform()),
    "Uniform": lambda: (0.0, 1.0),
    "Wishart": lambda: (torch.tensor(3.0), torch.eye(2)),
    "MixtureSameFamilyConstraint": lambda: (distributions.constraints.real,),
    "cat": lambda: ([distributions.constraints.real],),
    "half_open_interval": lambda: (0, 1),
    "independent": lambda: (distributions.constraints.real, 1),
    "integer_interval": lambda: (0, 1),
    "interval": lambda: (0, 1),
    "lazy_property": lambda: (abs,),
    "stack": lambda: ([distributions.constraints.real],),
}
# What is found and not made.
FOUND = {
    "gradpack.dtype": lambda: torch.float32,
    "gradpack.layout": lambda: torch.strided,
    "gradpack.memory_format": lambda: torch.channels_last,
    "gradpack.extend.OpInfo": lambda: torch.extend.get_op_info("abs"),
    "gradpack.utils.checkpoint.SelectiveCheckpointContext": lambda: checkpoint.SelectiveCheckpointContext(
        is_recompute=True
    ),
    "gradpack.distributed.GradBucket": lambda: torch.distributed.GradBucket(0, torch.ones(2), [weight()], True),
    "gradpack.distributed.Backend": lambda: torch.distributed.Backend("gloo"),
    "gradpack.distributed.FileStore": lambda: torch.distributed.FileStore(tempfile.mkstemp()[1], 1),
    "gradpack.distributed.P2POp": lambda: alone(
        lambda: torch.distributed.P2POp(torch.distributed.isend, torch.ones(2), 1 - torch.distributed.get_rank()), 2
    ),
    "gradpack.distributed.PrefixStore": lambda: torch.distributed.PrefixStore("a", torch.distributed.HashStore()),
    "gradpack.distributed.TCPStore": lambda: torch.distributed.TCPStore("127.0.0.1", 0, 1, True),
    "gradpack.distributed.ProcessGroup": lambda: alone(torch.distributed.new_group),
    "gradpack.distributed.Work": lambda: alone(lambda: torch.distributed.barrier(async_op=True)),
    "gradpack.nn.parallel.DistributedDataParallel": lambda: alone(
        lambda: nn.parallel.DistributedDataParallel(linear())
    ),
    "gradpack.library.CustomOpDef": lambda: torch.library.custom_op(
        "reprs::one", lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor"
    ),
}
MODULES_OF_NN = {
    "AdaptiveLogSoftmaxWithLoss": lambda: (4, 10, [3]),
    "Bilinear": lambda: (2, 2, 2),
    "EmbeddingBag": lambda: (3, 2),
    "Embedding": lambda: (3, 2),
    "Flatten": lambda: (),
    "Fold": lambda: (4, 2),
    "GLU": lambda: (),
    "GroupNorm": lambda: (1, 2),
    "LayerNorm": lambda: (2,),
    "RMSNorm": lambda: (2,),
    "Linear": lambda: (2, 2),
    "LocalResponseNorm": lambda: (2,),
    "MultiheadAttention": lambda: (4, 2),
    "Parameter": lambda: (torch.ones(2),),
    "Buffer": lambda: (torch.ones(2),),
    "ParameterList": lambda: ([torch.ones(2)],),
    "ParameterDict": lambda: ({"a": torch.ones(2)},),
    "ModuleList": lambda: ([linear(), linear()],),
    "ModuleDict": lambda: ({"a": linear()},),
    "Sequential": lambda: (linear(), nn.ReLU()),
    "PixelShuffle": lambda: (2,),
    "PixelUnshuffle": lambda: (2,),
    "ChannelShuffle": lambda: (2,),
    "Threshold": lambda: (0.1, 2),
    "Transformer": lambda: (4, 2, 1, 1, 8),
    "TransformerEncoderLayer": lambda: (4, 2, 8),
    "TransformerDecoderLayer": lambda: (4, 2, 8),
    "TransformerEncoder": lambda: (nn.TransformerEncoderLayer(4, 2, 8), 1),
    "TransformerDecoder": lambda: (nn.TransformerDecoderLayer(4, 2, 8), 1),
    "Unflatten": lambda: (1, (1, 2)),
    "Unfold": lambda: (2,),
    "RNNCellBase": lambda: (2, 3, True, 4),
    "RNNBase": lambda: ("LSTM", 2, 3),
    "UninitializedParameter": lambda: (),
}
SCHEDULES = {
    "LambdaLR": lambda: (optimizer(), lambda step: 0.9),
    "MultiplicativeLR": lambda: (optimizer(), lambda step: 0.9),
    "StepLR": lambda: (optimizer(), 2),
    "MultiStepLR": lambda: (optimizer(), [1, 2]),
    "ExponentialLR": lambda: (optimizer(), 0.9),
    "CosineAnnealingLR": lambda: (optimizer(), 5),
    "CosineAnnealingWarmRestarts": lambda: (optimizer(), 5),
    "CyclicLR": lambda: (optim.SGD([weight()], lr=0.1, momentum=0.9), 0.1, 0.2),
    "OneCycleLR": lambda: (optimizer(), 0.1, 5),
    "SequentialLR": lambda: sequence(),
    "ChainedScheduler": lambda: ([optim.lr_scheduler.ConstantLR(optimizer())],),
}


def make(name, kind):
    """An instance of a public class."""
    if name in FOUND:
        return FOUND[name]()
    if issubclass(kind, enum.Enum):
        return next(iter(kind))
    if name in ARGUMENTS:
        return kind(*ARGUMENTS[name]())
    short = name.rpartition(".")[2]
    if name.startswith("gradpack.nn.") and short in MODULES_OF_NN:
        return kind(*MODULES_OF_NN[short]())
    if name.startswith("gradpack.optim.lr_scheduler."):
        return kind(*SCHEDULES[short]()) if short in SCHEDULES else kind(optimizer())
    if short == "SWALR":
        return kind(optimizer(), 0.05)
    if name.startswith("gradpack.optim."):
        return kind([weight()])
    if name.startswith("gradpack.distributions.") and short in DISTRIBUTIONS:
        return kind(*DISTRIBUTIONS[short]())
    for arguments in [(), (2.0,), (2.0, 2.0)] if name.startswith("gradpack.distributions.") else []:
        with contextlib.suppress(TypeError, ValueError):
            return kind(*arguments)
    for arguments in [(), (2,), (2, 2), (2, 2, 2)] if name.startswith("gradpack.nn.") else [()]:
        with contextlib.suppress(TypeError, ValueError):
            return kind(*arguments)
    raise TypeError(f"{name}: say in this file how one is made")


# What cannot be made at all.
ABSTRACT = {
    "gradpack.as_torch.Installed",  # only `install_as_torch` makes one
    "gradpack.autograd.Node",
    "gradpack.autograd.graph.Node",
    "gradpack.optim.lr_scheduler.LRScheduler",
    "gradpack.utils.data.IterableDataset",
    "gradpack.saved.torch.Hooks",  # these two need an installed torch: tests/oracle/test_saved_in_torch.py
    "gradpack.saved.torch.TorchMeter",
}


@pytest.mark.parametrize("name", sorted(set(CLASSES) - ABSTRACT))
@pytest.mark.filterwarnings("ignore")
def test_instances_of_public_classes(name):
    kind = CLASSES[name]
    made = make(name, kind)
    assert isinstance(made, kind)
    text = repr(made)
    assert isinstance(text, str) and text and text == repr(made), "a text depends on something else than the object"
    assert isinstance(str(made), str) and repr(kind)


def test_abstract_classes_have_texts():
    for name in ABSTRACT:
        assert repr(CLASSES[name])
        with pytest.raises((TypeError, NotImplementedError)):
            make(name, CLASSES[name])


SHAPES = [(), (0,), (1,), (3,), (0, 3), (2, 3), (1, 0, 2), (2, 1, 3), (2000,), (60, 60)]


@pytest.mark.parametrize("name", [d.name for d in dict.fromkeys(dtypes.DTYPES.values())])
def test_tensors_of_every_dtype_and_shape(name):
    dtype = dtypes.DTYPES[name]
    for shape in SHAPES:
        x = torch.zeros(shape).to(dtype)
        text = repr(x)
        assert text.startswith("tensor(") and text.endswith(")")
        floating = dtype.is_floating_point or dtype.is_complex
        for needs in (False, True) if floating else (False,):
            y = x.clone().requires_grad_(needs)
            views = [y, y.reshape(-1), y.unsqueeze(0), y.expand(2, *shape), y.detach()]
            if shape:
                views += [y.transpose(0, -1), y[..., :1], y[..., 1:1], y.flip(0)]
            for view in views:
                text = repr(view)
                assert text.startswith("tensor(") and ("_grad=True" in text or "grad_fn" in text) == view.requires_grad


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 1e-45, 3.4e38, -0.0, 1e8, 123456.789])
def test_tensors_of_odd_values(value):
    for values in ([value], [value, 1.0], [value, float("nan"), 0.5], [[value, 1.0], [2.0, float("inf")]]):
        assert repr(torch.tensor(values)) and repr(torch.tensor(values, dtype=torch.float64))
        assert repr(torch.tensor(values).to(torch.complex64) * 1j) and str(torch.tensor(values))


def test_tensors_in_odd_states():
    x = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        assert repr(torch.ones(2)).startswith("tensor(")
    with torch.autograd.forward_ad.dual_level():
        assert "tangent" in repr(torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2)))
    assert repr(torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,)))
    assert "grad_fn=<MulBackward0>" in repr(x * 2) and "grad_fn" in repr(x.unbind()[0])
    base = torch.zeros(3)
    view = base[:2]
    base.requires_grad_()
    assert repr(view)
    seen = []
    torch.vmap(lambda row: seen.append(repr(row)) or row)(torch.ones(2, 3))
    assert len(seen) == 1 and seen[0]

    class Mine(torch.Tensor):
        pass

    assert repr(torch.ones(2).as_subclass(Mine)).startswith("Mine(")


def test_nodes_edges_and_what_hangs_on_them():
    x = torch.ones(3, 3, requires_grad=True)
    outs = [x * 2, x.sum(), x.unbind()[1], x[0], x.max(0).values, torch.cat([x, x]), x.t(), x.softmax(0), x.clone()]
    for out in outs:
        node = out.grad_fn
        assert repr(node).startswith(f"<{type(node).__name__} object at 0x")
        for edge in (torch.autograd.graph.get_gradient_edge(out), *node.next_functions):
            assert repr(edge)
        for name in dir(node):
            if name.startswith("_raw_saved"):
                assert repr(getattr(node, name))
        out.sum().backward()
        assert repr(node) and repr(node.metadata)
    handles = [x.register_hook(abs), outs[0].grad_fn.register_hook(print), outs[0].grad_fn.register_prehook(print)]
    handles.append(x.register_post_accumulate_grad_hook(print))
    handles.append(linear().register_forward_hook(print))
    handles.append(torch.autograd.graph.register_multi_grad_hook([x], print))
    for handle in handles:
        assert repr(handle)
        handle.remove()
        assert repr(handle)


def test_texts_unpack_nothing():
    def fail(packed):
        raise AssertionError("a text must not unpack")

    x = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, fail):
        y = x.sin()
    assert repr(y) and repr(y.grad_fn) and repr(torch.autograd.graph.get_gradient_edge(y))


def test_contexts_before_inside_and_after():
    makers = [
        torch.no_grad,
        torch.enable_grad,
        torch.inference_mode,
        torch.autograd.detect_anomaly,
        lambda: torch.set_grad_enabled(True),
        lambda: torch.autograd.graph.saved_tensors_hooks(abs, abs),
        torch.autograd.graph.save_on_cpu,
        lambda: torch.autograd.graph.disable_saved_tensors_hooks("no"),
        torch.autograd.graph.allow_mutation_on_saved_tensors,
        lambda: torch.autocast("cpu"),
        torch.autograd.forward_ad.dual_level,
        torch.autograd.profiler.profile,
        torch.profiler.profile,
        lambda: torch.autograd.profiler.record_function("name"),
    ]
    import warnings

    for maker in makers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            context = maker()
            assert repr(context)
            with context as inside:
                assert repr(context) and (inside is None or repr(inside) is not None)
            assert repr(context)


def test_plans_and_measurements_say_what_they_found():
    from gradpack import saved

    x = torch.ones(64, 64, requires_grad=True)
    budget = saved.budget("40 KiB", seed=0)
    with budget:
        y = (x @ x).exp().exp().exp().sum()
    y.backward()
    assert repr(budget.plan) == f"<plan: {str(budget.plan).splitlines()[0]}>" and "of 40.0 KiB at most" in repr(
        budget.plan
    )
    with saved.Meter() as meter, saved.Disk() as disk, torch.autograd.graph.saved_tensors_hooks(*disk):
        y = x.exp()
        assert repr(disk) == "<disk: 16.0 KiB in use, 16.0 KiB at the peak>"
        assert repr(meter).startswith("<meter: ") and repr(meter).endswith(" now>")
    with torch.profiler.profile() as profile:
        assert repr(profile) == "<profile: no events>"
        x.exp()
    assert repr(profile) == profile.key_averages().table(sort_by="self_cpu_time_total", row_limit=10)
    assert "aten::exp" in repr(profile) and str(profile) == repr(profile)


def test_sends_and_stores_say_whom_they_reach():
    def both():
        there, ways = 1 - torch.distributed.get_rank(), (torch.distributed.isend, torch.distributed.irecv)
        return [repr(torch.distributed.P2POp(way, torch.ones(2), there)) for way in ways]

    found = alone(both, 2)
    assert "group_src=0, group_dst=1" in found[0] and found[0].startswith("P2POp(isend pg=")
    assert "group_src=1, group_dst=0" in found[1] and "float32" in found[1]
    store = torch.distributed.TCPStore("127.0.0.1", 0, 1, True)
    assert repr(store) == f"TCPStore(host='127.0.0.1', port={store.port})"


def test_functions_and_their_contexts():
    seen = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(repr(ctx))
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(repr(ctx))
            return g * 2

    y = Double.apply(torch.ones(1, requires_grad=True))
    y.backward()
    assert len(seen) == 2 and all(text.startswith("<") for text in seen) and repr(Double) and repr(y.grad_fn)


def test_modules_in_odd_states():
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(), nn.ModuleList())
    nn.utils.parametrize.register_parametrization(model[0], "weight", Parametrization())
    nn.utils.parametrizations.spectral_norm(nn.Linear(2, 2))
    assert "Parametrized" in repr(model) and repr(nn.Module())
    model.add_module("none", None)
    assert repr(model)


def test_return_types_and_plain_things():
    x = torch.ones(2, 2)
    for made in (x.max(0), x.sort(), torch.linalg.eigh(x), torch.linalg.svd(x), x.shape, x.dtype, x.device, x.layout):
        assert repr(made) and str(made)
    generator = torch.Generator()
    assert repr(generator) and repr(x.untyped_storage() if hasattr(x, "untyped_storage") else x)
    for fmt, size in itertools.product(("contiguous_format", "channels_last"), ("int64",)):
        assert repr(getattr(torch, fmt)) and repr(getattr(torch, size))
