"""Corners of modules and their functions that programs written for torch rely on."""

from __future__ import annotations

import pickle
import warnings

import pytest


@pytest.mark.parametrize("name", ["elu_", "celu_", "leaky_relu_"])
def test_a_negative_slope_in_place_has_no_backward(torch, name):
    x = torch.tensor([-1.0, 1.0], requires_grad=True)
    y = getattr(torch.nn.functional, name)(x.clone(), -0.5)
    with pytest.raises(RuntimeError, match="call out-of-place version instead"):
        y.sum().backward()
    assert x.grad is None
    getattr(torch.nn.functional, name)(x.clone(), 0.5).sum().backward()
    assert x.grad is not None


def test_hooks_are_deleted_as_older_files_do_without_them(torch):
    held = torch.nn.ParameterList([torch.nn.Parameter(torch.ones(2))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del held._forward_pre_hooks, held._state_dict_hooks, held._load_state_dict_pre_hooks
        del held._non_persistent_buffers_set
        read = pickle.loads(pickle.dumps(held))
    assert len(read) == 1
    assert read._forward_pre_hooks == {}


def test_a_parameter_on_the_meta_device_is_described_by_its_shape(torch):
    held = torch.nn.ParameterList([torch.nn.Parameter(torch.empty(1, device="meta"))])
    assert str(held).replace("gradpack.", "torch.").endswith("Parameter containing: [torch.float32 of size 1])")


def test_a_count_of_batches_on_the_meta_device_is_replaced(torch):
    with torch.device("meta"):
        norm = torch.nn.BatchNorm2d(3)
    norm.load_state_dict({}, assign=True, strict=False)
    assert norm.num_batches_tracked.item() == 0


def test_state_dicts_tell_the_version_of_a_spectral_norm(torch):
    module = torch.nn.utils.spectral_norm(torch.nn.Linear(5, 7))
    assert module.state_dict()._metadata[""]["spectral_norm"] == {"weight.version": 1}


def test_empty_sequences_are_not_packed(torch):
    pack = torch.nn.utils.rnn.pack_padded_sequence
    with pytest.raises(RuntimeError, match="empty tensor"):
        pack(torch.randn([0, 1, 10]), torch.randn([11, 14, 14, 2]), True)
