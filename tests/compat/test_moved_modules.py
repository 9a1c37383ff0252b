"""Pickles and programs that name modules by where they were load what is there now."""

from __future__ import annotations

import importlib
import importlib.util
import pickle
import subprocess
import sys

import pytest

import gradpack as torch
from gradpack import nn
from gradpack.compat.moved_modules import MOVED

LAYERS = {
    "activations": "ReLU GELU Softmax",
    "adaptive": "AdaptiveLogSoftmaxWithLoss",
    "adaptive_pooling": "AdaptiveAvgPool2d LPPool1d FractionalMaxPool3d",
    "attention": "MultiheadAttention",
    "batch_norm": "BatchNorm1d InstanceNorm2d GroupNorm LocalResponseNorm",
    "containers": "Sequential ModuleList ModuleDict",
    "convolution": "Conv2d ConvTranspose3d",
    "embedding_bag": "EmbeddingBag",
    "functional_linear_loss": "LinearCrossEntropyOptions",
    "layers": "Linear Bilinear Identity Embedding Flatten Unflatten",
    "lazy_layers": "LazyLinear LazyConv2d LazyConvTranspose1d LazyBatchNorm3d LazyInstanceNorm1d",
    "linear_cross_entropy": "LinearCrossEntropyLoss",
    "losses": "MSELoss CrossEntropyLoss",
    "margin_losses": "TripletMarginLoss HingeEmbeddingLoss",
    "module": "Module",
    "more_activations": "PReLU Hardtanh GLU",
    "more_losses": "BCELoss CTCLoss PairwiseDistance",
    "normalize": "LayerNorm RMSNorm Dropout AlphaDropout CrossMapLRN2d",
    "padding": "ZeroPad2d CircularPad1d",
    "parameter_containers": "ParameterList ParameterDict",
    "pooling": "MaxPool2d AvgPool1d MaxUnpool3d",
    "resizing": "Upsample PixelShuffle ChannelShuffle Fold",
    "rnn": "LSTM GRU RNNBase",
    "rnn_cells": "LSTMCell",
    "sync_batch_norm": "SyncBatchNorm",
    "transformer": "Transformer TransformerEncoder",
    "transformer_layers": "TransformerEncoderLayer",
    "uninitialized": "UninitializedParameter UninitializedBuffer",
}


def named(module: str, name: str) -> bytes:
    """A pickle, in the oldest form, of something that is found by name."""
    return f"cgradpack.{module}\n{name}\n.".encode()


@pytest.mark.parametrize("old", LAYERS)
def test_classes_of_layers(old: str) -> None:
    for name in LAYERS[old].split():
        assert pickle.loads(named(f"nn.{old}", name)) is getattr(nn, name)


@pytest.mark.parametrize(
    ("module", "name", "wanted"),
    [
        ("nn.functional_activations", "log_softmax", nn.functional.log_softmax),
        ("nn.functional_dropout", "gumbel_softmax", nn.functional.gumbel_softmax),
        ("nn.losses", "_Loss", nn.modules.loss._Loss),
        ("nn.batch_norm", "_BatchNorm", nn.modules.batchnorm._BatchNorm),
        ("nn.state", "StateDict", type(nn.Linear(1, 1).state_dict())),
        ("nn.lazy", "_first_call", nn.modules.lazy._first_call),
        ("ops.generator", "Generator", torch.Generator),
        ("ops.trigonometry", "tanh", torch.tanh),
        ("ops.affine", "linear", nn.functional.linear),
    ],
)
def test_other_names(module: str, name: str, wanted: object) -> None:
    assert pickle.loads(named(module, name)) is wanted


BEFORE = {
    "activation": "activations",
    "batchnorm": "batch_norm",
    "container": "containers",
    "conv": "convolution",
    "linear": "layers",
    "lazy": "lazy",
    "rnn": "rnn",
}


@pytest.mark.parametrize("protocol", [0, 2])
def test_whole_models(protocol: int) -> None:
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.ModuleList([nn.LSTM(2, 3)]))
    written = pickle.dumps(model, protocol)
    for new, old in BEFORE.items():
        written = written.replace(f"cgradpack.nn.modules.{new}\n".encode(), f"cgradpack.nn.{old}\n".encode())
    assert b"nn.modules" not in written
    again = pickle.loads(written)
    assert repr(again) == repr(model)
    for (name, was), (key, now) in zip(model.state_dict().items(), again.state_dict().items(), strict=True):
        assert name == key and torch.equal(was, now)


@pytest.mark.parametrize("protocol", [0, 2])
def test_a_generator(protocol: int) -> None:
    made = torch.Generator().manual_seed(3)
    written = pickle.dumps(made, protocol).replace(b"cgradpack.ops.random.generator\n", b"cgradpack.ops.generator\n")
    assert b"ops.generator" in written
    again = pickle.loads(written)
    assert torch.equal(torch.rand(3, generator=again), torch.rand(3, generator=made))


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.optim.Adam([torch.zeros(1, requires_grad=True)]),
        lambda: torch.optim.lr_scheduler.StepLR(torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0), 3),
        lambda: torch.distributions.Normal(0.0, 1.0),
    ],
)
def test_what_did_not_move(make) -> None:
    made = make()
    assert type(pickle.loads(pickle.dumps(made, 0))) is type(made)


def test_no_module_stands_where_the_table_says_that_it_has_moved() -> None:
    for old, places in MOVED.items():
        spec = importlib.util.find_spec(f"gradpack.{old}")
        assert spec is not None and (not spec.has_location or old == "nn.attention")  # torch has a package of that name
        for place in places:
            importlib.import_module(f"gradpack.{place}".rstrip("."))


def test_a_folder_that_had_the_name_of_a_function() -> None:
    assert pickle.loads(b"cgradpack.tensor.parameter\nParameter\n.") is torch.nn.Parameter
    assert torch.tensor([1.0]).item() == 1.0
    from gradpack.tensor.tensor import Tensor  # type: ignore[import-not-found]

    assert Tensor is torch.Tensor


@pytest.mark.parametrize("name", ["linalg.matmul", "shape.reshape", "shape.squeeze", "index.gather"])
def test_functions_of_modules_that_are_folders_today(name: str) -> None:
    folder, _, function = name.partition(".")
    assert pickle.loads(f"cgradpack.ops.{folder}\n{function}\n.".encode()) is getattr(torch, function)


def test_names_that_there_never_were() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("gradpack.nn.nonsense")
    with pytest.raises(AttributeError, match=r"module 'gradpack\.nn\.layers' has no attribute 'Nonsense'"):
        importlib.import_module("gradpack.nn.layers").Nonsense
    with torch.install_as_torch(force=True), pytest.raises(ModuleNotFoundError):
        importlib.import_module("torch.nn.layers")


def test_in_a_fresh_process() -> None:
    code = f"import pickle; print(pickle.loads({named('nn.layers', 'Linear')!r}).__module__)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "gradpack.nn.modules.linear\n"
