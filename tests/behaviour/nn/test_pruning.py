"""Parameters with a mask: `torch.nn.utils.prune`."""

from __future__ import annotations

import importlib
import math
import pickle

import pytest


@pytest.fixture
def prune(torch):
    return importlib.import_module(f"{torch.__name__}.nn.utils.prune")


@pytest.fixture
def layer(torch):
    made = torch.nn.Linear(3, 2)
    with torch.no_grad():
        made.weight.copy_(torch.tensor([[1.0, -6.0, 2.0], [-3.0, 4.0, -0.5]]))
    return made


def test_a_pruned_parameter_is_a_parameter_a_mask_and_their_product(torch, prune, layer):
    first = layer.weight
    assert prune.l1_unstructured(layer, "weight", amount=2) is layer and prune.is_pruned(layer)
    assert sorted(layer.state_dict()) == ["bias", "weight_mask", "weight_orig"] and layer.weight_orig is first
    assert layer.weight_mask.tolist() == [[0, 1, 1], [1, 1, 0]] and layer.weight[0, 0] == 0
    layer(torch.ones(1, 3)).sum().backward()
    assert layer.weight_orig.grad.tolist() == layer.weight_mask.tolist()
    with torch.no_grad():
        layer.weight_orig.fill_(2)
    assert layer(torch.ones(1, 3)).tolist()[0][0] == pytest.approx(4 + layer.bias[0].item())
    prune.remove(layer, "weight")
    assert sorted(layer.state_dict()) == ["bias", "weight"] and not prune.is_pruned(layer)
    assert isinstance(layer.weight, torch.nn.Parameter) and layer.weight.tolist() == [[0, 2, 2], [2, 2, 0]]


@pytest.mark.parametrize(
    ("call", "mask"),
    [
        (lambda p, m: p.identity(m, "weight"), [[1, 1, 1], [1, 1, 1]]),
        (lambda p, m: p.l1_unstructured(m, "weight", 0.5), [[0, 1, 0], [1, 1, 0]]),
        (lambda p, m: p.l1_unstructured(m, "weight", 0), [[1, 1, 1], [1, 1, 1]]),
        (lambda p, m: p.ln_structured(m, "weight", 1, 2, 0), [[1, 1, 1], [0, 0, 0]]),
        (lambda p, m: p.ln_structured(m, "weight", 1, math.inf, 0), [[1, 1, 1], [0, 0, 0]]),
        (lambda p, m: p.ln_structured(m, "weight", 1, 1, -1), [[1, 1, 0], [1, 1, 0]]),
        (lambda p, m: p.ln_structured(m, "weight", 1, 1, 0, importance_scores=m.weight.flip(0)), [[0] * 3, [1] * 3]),
        (lambda p, m: p.l1_unstructured(m, "weight", 5, importance_scores=1 / m.weight), [[0, 0, 0], [0, 0, 1]]),
    ],
)
def test_what_is_pruned(prune, layer, call, mask):
    assert call(prune, layer).weight_mask.tolist() == mask


def test_at_random_the_number_is_right(torch, prune):
    layer = prune.random_unstructured(torch.nn.Linear(10, 20), "weight", 0.3)
    assert int((layer.weight_mask == 0).sum()) == 60
    layer = prune.random_structured(torch.nn.Conv2d(4, 6, 3), "weight", 2, dim=0)
    assert sorted(layer.weight_mask.sum((1, 2, 3)).tolist()) == [0, 0, 36, 36, 36, 36]


def test_a_second_time_prunes_of_what_is_left(torch, prune, layer):
    prune.l1_unstructured(layer, "weight", 1)
    prune.l1_unstructured(layer, "weight", 0.4)  # two of five
    assert layer.weight_mask.tolist() == [[0, 1, 0], [1, 1, 0]]
    prune.ln_structured(layer, "weight", 1, 2, 0)
    assert layer.weight_mask.tolist() == [[0, 1, 0], [0, 0, 0]]
    (hook,) = layer._forward_pre_hooks.values()
    assert len(hook) == 3 and isinstance(hook[2], prune.LnStructured) and hook is not next(iter(hook))
    copied = pickle.loads(pickle.dumps(prune.remove(layer, "weight")))
    assert torch.equal(copied.weight, layer.weight) and not copied._forward_pre_hooks


def test_several_parameters_together(torch, prune, layer):
    other = torch.nn.Linear(1, 2)
    with torch.no_grad():
        other.bias.copy_(torch.tensor([0.1, 9.0]))
    pairs = [(layer, "weight"), (other, "bias")]
    prune.global_unstructured(pairs, pruning_method=prune.L1Unstructured, amount=2)
    assert layer.weight_mask.sum() == 5 and other.bias_mask.tolist() == [0, 1]
    scores = {(other, "bias"): torch.tensor([5.0, 0.0])}
    prune.global_unstructured(pairs, pruning_method=prune.L1Unstructured, amount=1, importance_scores=scores)
    assert other.bias_mask.tolist() == [0, 0] and layer.weight_mask.sum() == 5


def test_a_method_of_ones_own(torch, prune, layer):
    class Above(prune.BasePruningMethod):
        PRUNING_TYPE = "global"

        def __init__(self, most):
            self.most = most

        def compute_mask(self, t, default_mask):
            return default_mask * (t <= self.most)

    Above.apply(layer, "weight", 1.5)
    assert layer.weight_mask.tolist() == [[1, 1, 0], [1, 0, 1]]
    assert Above(0.0).prune(torch.tensor([1.0, -1.0])).tolist() == [0, -1]
    scores = torch.tensor([-1.0, 1.0])
    assert Above(0.0).prune(torch.tensor([1.0, -1.0]), importance_scores=scores).tolist() == [1, 0]


def test_a_method_that_fails_changes_nothing(torch, prune, layer):
    class Fails(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            raise KeyError("no")

    before = dict(layer.state_dict())
    with pytest.raises(KeyError):
        Fails.apply(layer, "weight")
    assert sorted(layer.state_dict()) == sorted(before) and not prune.is_pruned(layer)
    assert isinstance(layer.weight, torch.nn.Parameter)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda p, m: p.l1_unstructured(m, "weight", -1), ValueError, "amount=-1"),
        (lambda p, m: p.l1_unstructured(m, "weight", 1.5), ValueError, "amount=1.5"),
        (lambda p, m: p.l1_unstructured(m, "weight", "a"), TypeError, "amount"),
        (lambda p, m: p.l1_unstructured(m, "weight", 7), ValueError, "amount=7"),
        (lambda p, m: p.l1_unstructured(m, "nothing", 1), AttributeError, "nothing"),
        (lambda p, m: p.ln_structured(m, "weight", 1, 2, 5), IndexError, "5"),
        (lambda p, m: p.ln_structured(m, "bias", 1, 2, 0), ValueError, "multidimensional"),
        (lambda p, m: p.random_structured(m, "bias", 1, 0), ValueError, "multidimensional"),
        (lambda p, m: p.remove(m, "weight"), ValueError, "pruned before"),
        (lambda p, m: p.global_unstructured(3, p.L1Unstructured, amount=1), TypeError, "Iterable"),
        (
            lambda p, m: p.global_unstructured([(m, "weight")], p.L1Unstructured, importance_scores=3, amount=1),
            TypeError,
            "dict",
        ),
        (lambda p, m: p.global_unstructured([(m, "weight")], p.RandomStructured, amount=1), TypeError, "unstructured"),
        (lambda p, m: p.custom_from_mask(m, "bias", m.weight), AssertionError, "shape"),
        (lambda p, m: p.l1_unstructured(m, "bias", 1, importance_scores=m.weight), AssertionError, "shape"),
        (lambda p, m: p.PruningContainer().add_pruning_method(3), TypeError, "int"),
    ],
)
def test_what_is_refused(prune, layer, call, error, words):
    before = sorted(layer.state_dict())
    with pytest.raises(error, match=words):
        call(prune, layer)
    assert sorted(layer.state_dict()) == before and not prune.is_pruned(layer)
