"""Bases that torch has and programs ask for are the bases of the same layers here, and names are in `vars(module)`."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from importlib import import_module

import pytest

import gradpack as torch
from gradpack import nn


def of_each(name: str) -> str:
    return " ".join(f"{name}{n}d" for n in (1, 2, 3))


NORMS, LAZY_NORMS = of_each("BatchNorm"), f"{of_each('LazyBatchNorm')} {of_each('LazyInstanceNorm')}"
CONVS = f"{of_each('Conv')} {of_each('LazyConv')}"
TRANSPOSED = f"{of_each('ConvTranspose')} {of_each('LazyConvTranspose')}"
WEIGHTED = "NLLLoss NLLLoss2d BCELoss CrossEntropyLoss LinearCrossEntropyLoss MultiLabelSoftMarginLoss MultiMarginLoss"
BASES = {
    "batchnorm._BatchNorm": f"{NORMS} {of_each('LazyBatchNorm')} SyncBatchNorm",
    "batchnorm._NormBase": f"{NORMS} {LAZY_NORMS} SyncBatchNorm {of_each('InstanceNorm')}",
    "batchnorm._LazyNormBase": LAZY_NORMS,
    "instancenorm._InstanceNorm": f"{of_each('InstanceNorm')} {of_each('LazyInstanceNorm')}",
    "conv._ConvNd": f"{CONVS} {TRANSPOSED}",
    "conv._ConvTransposeNd": TRANSPOSED,
    "conv._LazyConvXdMixin": f"{of_each('LazyConv')} {of_each('LazyConvTranspose')}",
    "dropout._DropoutNd": f"Dropout {of_each('Dropout')} AlphaDropout FeatureAlphaDropout",
    "loss._Loss": f"{WEIGHTED} L1Loss PoissonNLLLoss GaussianNLLLoss KLDivLoss MSELoss BCEWithLogitsLoss "
    "HingeEmbeddingLoss MultiLabelMarginLoss SmoothL1Loss HuberLoss SoftMarginLoss CosineEmbeddingLoss "
    "MarginRankingLoss TripletMarginLoss TripletMarginWithDistanceLoss CTCLoss",
    "loss._WeightedLoss": WEIGHTED,
    "padding._CircularPadNd": of_each("CircularPad"),
    "padding._ConstantPadNd": f"{of_each('ConstantPad')} {of_each('ZeroPad')}",
    "padding._ReflectionPadNd": of_each("ReflectionPad"),
    "padding._ReplicationPadNd": of_each("ReplicationPad"),
    "pooling._MaxPoolNd": of_each("MaxPool"),
    "pooling._MaxUnpoolNd": of_each("MaxUnpool"),
    "pooling._AvgPoolNd": of_each("AvgPool"),
    "pooling._LPPoolNd": of_each("LPPool"),
    "pooling._AdaptiveMaxPoolNd": of_each("AdaptiveMaxPool"),
    "pooling._AdaptiveAvgPoolNd": of_each("AdaptiveAvgPool"),
}


@pytest.mark.parametrize("path", BASES)
def test_the_layers_of_a_base(path: str) -> None:
    module, _, name = path.rpartition(".")
    base = getattr(import_module(f"gradpack.nn.modules.{module}"), name)
    layers = {n for n in nn.__all__ if inspect.isclass(getattr(nn, n)) and issubclass(getattr(nn, n), base)}
    assert layers == set(BASES[path].split())


def test_others() -> None:
    assert isinstance(nn.CrossEntropyLoss(), nn.modules.loss._Loss)
    assert issubclass(nn.ZeroPad2d, nn.ConstantPad2d) and not issubclass(nn.LazyBatchNorm1d, nn.BatchNorm1d)
    result = nn.Linear(1, 1).load_state_dict({}, strict=False)
    assert isinstance(result, nn.modules.module._IncompatibleKeys)
    layer = nn.modules.linear.NonDynamicallyQuantizableLinear
    assert isinstance(nn.MultiheadAttention(2, 1).out_proj, layer)
    assert issubclass(torch.optim.lr_scheduler._LRScheduler, torch.optim.lr_scheduler.LRScheduler)


def test_layers_of_others_with_these_bases() -> None:
    class Pad4d(nn.modules.padding._ConstantPadNd):
        def __init__(self, padding: tuple[int, ...]) -> None:
            super().__init__(2.0)
            self.padding = padding

    class Norm(nn.modules.batchnorm._BatchNorm):
        def _check_input_dim(self, input: torch.Tensor) -> None:
            pass

    class Share(nn.modules.loss._WeightedLoss):
        def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
            return nn.functional.cross_entropy(input, target, self.weight, reduction=self.reduction)

    assert (
        Pad4d((1, 0))(torch.zeros(2)).tolist() == [2.0, 0.0, 0.0] and repr(Pad4d((1, 0)))[:19] == "Pad4d(padding=(1, 0"
    )
    assert Norm(3)(torch.ones(2, 3, 1, 1, 1, 1)).abs().max() == 0
    with pytest.raises(NotImplementedError):
        nn.modules.batchnorm._BatchNorm(3)(torch.ones(2, 3))
    weight = torch.tensor([1.0, 3.0])
    assert list(Share(weight, reduction="sum").state_dict()) == ["weight"]


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("optim", "Adam SGD swa_utils lr_scheduler"),
        ("distributions", "Normal kl_divergence"),
        ("nn", "Linear LazyLinear UninitializedParameter functional"),
        ("nn.utils", "prune rnn"),
        ("nn.modules.loss", "_Loss CrossEntropyLoss"),
        ("amp", "GradScaler autocast"),
        ("utils", "data checkpoint"),
        ("autograd", "Function forward_ad grad"),
    ],
)
@pytest.mark.parametrize("installed", [False, True], ids=["gradpack", "torch"])
def test_names_are_in_the_dictionary_of_a_module(module: str, names: str, installed: bool) -> None:
    with torch.install_as_torch(force=True) if installed else nullcontext():
        held = set(vars(import_module(f"{'torch' if installed else 'gradpack'}.{module}")))
    assert held >= set(names.split())


def test_all_of_a_module_is_imported() -> None:
    with torch.install_as_torch(force=True):
        for module, name in (("optim", "Adam"), ("distributions", "Normal"), ("nn.modules.loss", "MSELoss")):
            space: dict[str, object] = {}
            exec(f"from torch.{module} import *", space)
            assert name in space
        assert {"sin", "Tensor", "float32", "nn"} <= set(vars(import_module("torch")))
