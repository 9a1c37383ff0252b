"""Hooks that see what any module registers, and the places where torch keeps its layers."""

from __future__ import annotations

from collections import OrderedDict

import pytest


def test_parameters_buffers_and_children_are_seen_and_may_be_replaced(torch):
    registry = torch.nn.modules.module
    seen = []

    def note(module, name, value):
        seen.append((type(module).__name__, name, type(value).__name__))

    def twice(module, name, parameter):
        return None if parameter is None else torch.nn.Parameter(parameter.detach() * 2)

    handles = [
        registry.register_module_parameter_registration_hook(note),
        registry.register_module_parameter_registration_hook(twice),
        registry.register_module_buffer_registration_hook(note),
        registry.register_module_module_registration_hook(note),
    ]
    try:
        net = torch.nn.Module()
        net.weight = torch.nn.Parameter(torch.ones(2))
        net.register_parameter("bias", None)
        net.register_buffer("mean", torch.zeros(2))
        net.mean = torch.ones(2)
        net.act = torch.nn.ReLU()
        net.add_module("last", None)
    finally:
        for handle in handles:
            handle.remove()
    assert seen == [
        ("Module", "weight", "Parameter"),
        ("Module", "mean", "Tensor"),
        ("Module", "mean", "Tensor"),
        ("Module", "act", "ReLU"),
        ("Module", "last", "NoneType"),
    ]
    assert net.weight.tolist() == [2.0, 2.0]
    net.other = torch.nn.Parameter(torch.ones(1))
    assert len(seen) == 5 and net.other.item() == 1


def test_a_child_that_a_hook_returns_is_kept(torch):
    registry = torch.nn.modules.module
    with registry.register_module_module_registration_hook(lambda module, name, child: torch.nn.Identity()):
        net = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())
    assert [type(child).__name__ for child in net] == ["Identity", "Identity"]


def test_hooks_of_all_modules_can_be_dropped_at_once(torch):
    registry, seen = torch.nn.modules.module, []
    registry.register_module_forward_hook(lambda module, args, output: seen.append("after"))
    registry.register_module_forward_pre_hook(lambda module, args: seen.append("before"))
    registry._global_forward_hooks = OrderedDict()
    torch.nn.ReLU()(torch.ones(1))
    assert seen == ["before"] and not registry._global_forward_hooks
    registry._global_forward_pre_hooks = OrderedDict()
    torch.nn.ReLU()(torch.ones(1))
    assert seen == ["before"]


@pytest.mark.parametrize(
    ("place", "name", "layer"),
    [
        ("conv", "_ConvNd", "Conv2d"),
        ("batchnorm", "_BatchNorm", "BatchNorm1d"),
        ("loss", "_Loss", "MSELoss"),
        ("lazy", "LazyModuleMixin", "LazyLinear"),
        ("rnn", "RNNBase", "LSTM"),
    ],
)
def test_bases_of_layers_are_where_torch_has_them(torch, place, name, layer):
    assert issubclass(getattr(torch.nn, layer), getattr(getattr(torch.nn.modules, place), name))
    assert torch.nn.modules.utils._pair(3) == (3, 3) and torch.nn.modules.Linear is torch.nn.Linear


def test_a_hook_of_state_dicts_is_registered_in_one_way_only(torch):
    layer = torch.nn.Linear(1, 1)

    def hook(module, state, prefix, metadata):
        return OrderedDict()

    layer.register_state_dict_post_hook(hook)
    with pytest.raises(RuntimeError, match="previously registered via register_state_dict_post_hook"):
        layer._register_state_dict_hook(hook)
    with pytest.raises(RuntimeError, match="must return None"):
        layer.state_dict()


def test_a_state_dict_post_hook_returns_nothing(torch):
    layer = torch.nn.Linear(1, 1)
    layer.register_state_dict_post_hook(lambda module, state, prefix, metadata: state)
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        layer.state_dict()


def test_loading_into_a_meta_parameter_warns(torch):
    layer = torch.nn.Linear(1, 1, device="meta")
    with pytest.warns(UserWarning, match="for weight: copying from a non-meta parameter in the checkpoint to a meta"):
        layer.load_state_dict({"weight": torch.ones(1, 1), "bias": layer.bias})
    assert layer.weight.is_meta
