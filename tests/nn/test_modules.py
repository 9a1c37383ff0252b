"""The layers that gradpack brings. Values against torch: tests/oracle."""

from __future__ import annotations

import math
from typing import Any

import pytest

import gradpack as torch

nn = torch.nn


def test_linear_starts_within_its_bound() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(100, 50)
    for p in layer.parameters():
        assert 0.09 < p.abs().max().item() <= 0.1
    assert (layer.weight.shape, layer.bias.shape) == ((50, 100), (50,))


def test_linear_by_hand() -> None:
    layer = nn.Linear(2, 1)
    layer.load_state_dict({"weight": torch.tensor([[2.0, 3.0]]), "bias": torch.tensor([1.0])})
    assert layer(torch.tensor([[1.0, 1.0], [0.0, 1.0]])).tolist() == [[6.0], [4.0]]


def test_linear_without_inputs() -> None:
    assert nn.Linear(2, 3)(torch.ones(0, 2)).shape == (0, 3)
    with pytest.warns(UserWarning, match="zero-element"):
        layer = nn.Linear(0, 3)
    assert layer(torch.ones(2, 0)).tolist() == [layer.bias.tolist()] * 2


def test_linear_uses_what_its_weight_is_now() -> None:
    layer = nn.Linear(1, 1, bias=False)
    layer.weight = nn.Parameter(torch.tensor([[5.0]]))
    assert layer(torch.ones(1)).item() == 5
    del layer.weight
    layer.weight = torch.tensor([[7.0]])  # no longer a parameter
    assert layer(torch.ones(1)).item() == 7


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_layers_are_made_in_the_dtype_asked_for(dtype: Any) -> None:
    layers = [nn.Linear(2, 2, dtype=dtype), nn.Embedding(2, 2, dtype=dtype), nn.LayerNorm(2, dtype=dtype)]
    for layer in [*layers, nn.RMSNorm(2, dtype=dtype)]:
        assert {p.dtype for p in layer.parameters()} == {dtype}
        assert {p.device for p in layer.parameters()} == {torch.device("cpu")}


def test_default_dtype_of_layers() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert nn.Linear(1, 1).weight.dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_embedding_with_padding() -> None:
    layer = nn.Embedding(4, 3, padding_idx=-2)
    assert layer.padding_idx == 2
    assert layer.weight[2].tolist() == [0, 0, 0]
    layer(torch.tensor([1, 2, 2])).sum().backward()
    assert layer.weight.grad.tolist() == [[0, 0, 0], [1, 1, 1], [0, 0, 0], [0, 0, 0]]
    assert layer.weight._version == layer.weight.detach()._version


def test_embedding_from_a_table_is_frozen_unless_told_otherwise() -> None:
    table = torch.ones(2, 3)
    assert not nn.Embedding.from_pretrained(table).weight.requires_grad
    layer = nn.Embedding.from_pretrained(table, freeze=False)
    assert layer.weight.requires_grad
    layer.weight.data[0, 0] = 5
    assert table[0, 0].item() == 5


def test_embedding_shortens_what_it_looks_up() -> None:
    layer = nn.Embedding.from_pretrained(torch.tensor([[3.0, 4.0], [3.0, 4.0]]), max_norm=1.0)
    layer(torch.tensor([1]))
    norms = [math.hypot(*row) for row in layer.weight.tolist()]
    assert norms[0] == 5
    assert abs(norms[1] - 1) < 1e-5


def test_layer_norm_by_hand() -> None:
    layer = nn.LayerNorm(2, eps=0)
    out = layer(torch.tensor([[1.0, 3.0], [5.0, 1.0]]))
    assert out.tolist() == [[-1, 1], [1, -1]]
    assert [n for n, _ in nn.LayerNorm(2, bias=False).named_parameters()] == ["weight"]
    assert list(nn.LayerNorm(2, elementwise_affine=False).parameters()) == []


def test_rms_norm_by_hand() -> None:
    layer = nn.RMSNorm(2, eps=0.0)
    assert layer(torch.tensor([[3.0, -3.0]])).tolist() == [[1, -1]]


def test_dropout_acts_in_training_only() -> None:
    torch.manual_seed(0)
    layer = nn.Dropout(0.25)
    out = layer(torch.ones(10_000))
    share = (out == 0).sum().item() / 10_000
    assert abs(share - 0.25) < 0.02
    assert set(out.tolist()) == {0.0, out.max().item()}
    assert abs(out.max().item() - 4 / 3) < 1e-6
    assert layer.eval()(torch.ones(3)).tolist() == [1, 1, 1]


def test_dropout_of_all_and_of_nothing() -> None:
    assert nn.Dropout(1.0)(torch.ones(3)).tolist() == [0, 0, 0]
    assert nn.Dropout(0.0)(torch.ones(3)).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "layer", [nn.ReLU(True), nn.SiLU(True), nn.LeakyReLU(0.1, True), nn.ELU(1.0, True), nn.Dropout(0.0, True)]
)
def test_in_place(layer: Any) -> None:
    x = torch.tensor([-1.0, 2.0])
    plain = type(layer)(*([layer.p] if isinstance(layer, nn.Dropout) else []))
    if isinstance(layer, nn.LeakyReLU):
        plain = nn.LeakyReLU(0.1)
    expected = plain(x.clone()).tolist()
    assert layer(x) is x
    assert x.tolist() == expected


def test_flatten_and_unflatten_are_inverse() -> None:
    x = torch.arange(24).view(2, 3, 4)
    flat = nn.Flatten()(x)
    assert flat.shape == (2, 12)
    assert nn.Unflatten(1, (3, 4))(flat).tolist() == x.tolist()
    assert nn.Flatten(0, 1)(x).shape == (6, 4)


def test_losses_ignore_what_they_are_told_to() -> None:
    scores = torch.tensor([[0.0, 0.0], [9.0, 1.0]], requires_grad=True)
    loss = nn.CrossEntropyLoss(ignore_index=1)(scores, torch.tensor([0, 1]))
    assert abs(loss.item() - math.log(2)) < 1e-6
    loss.backward()
    assert scores.grad[1].tolist() == [0, 0]


def test_a_loss_moves_its_weight() -> None:
    loss = nn.NLLLoss(weight=torch.ones(2)).double()
    assert loss.weight.dtype is torch.float64


def test_sequential_trains() -> None:
    torch.manual_seed(0)
    x = torch.randn(64, 3)
    y = (x.sum(1, keepdim=True) > 0).to(torch.float32)
    model = nn.Sequential(nn.Linear(3, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 1), nn.Sigmoid())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = nn.MSELoss()(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]


# --- helpers ---


def test_clipping_leaves_small_gradients_alone() -> None:
    p = nn.Parameter(torch.zeros(2))
    p.grad = torch.tensor([0.3, 0.4])
    assert abs(nn.utils.clip_grad_norm_(p, 1.0).item() - 0.5) < 1e-7
    assert p.grad.tolist() == torch.tensor([0.3, 0.4]).tolist()


def test_clipping_makes_the_norm_what_it_should_be() -> None:
    torch.manual_seed(0)
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-5), (torch.bfloat16, 2e-2)):
        params = [nn.Parameter(torch.zeros(7, 3, dtype=dtype)), nn.Parameter(torch.zeros((), dtype=dtype))]
        for p in params:
            p.grad = torch.randn(p.shape).to(dtype)
        nn.utils.clip_grad_norm_(params, 0.5)
        norm = nn.utils.get_total_norm([p.grad for p in params])
        assert abs(norm.item() / 0.5 - 1) < tolerance
        assert norm.dtype is dtype


def test_clipping_refuses_a_norm_that_is_not_finite_and_changes_nothing() -> None:
    p = nn.Parameter(torch.zeros(2))
    p.grad = torch.tensor([float("inf"), 4.0])
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)
    assert p.grad.tolist() == [float("inf"), 4.0]
    nn.utils.clip_grad_norm_([p], 1.0)
    assert p.grad[1].item() == 0


def test_clipping_of_huge_gradients_does_not_warn() -> None:
    p = nn.Parameter(torch.zeros(2))
    p.grad = torch.tensor([1e30, 1e30])
    assert nn.utils.clip_grad_norm_([p], 1.0).item() == float("inf")
    assert p.grad.tolist() == [0, 0]


def test_clipping_of_gradients_in_any_layout() -> None:
    p = nn.Parameter(torch.zeros(2, 4))
    p.grad = torch.ones(4, 2).T
    q = nn.Parameter(torch.zeros(3))
    q.grad = torch.ones(6)[::2]
    nn.utils.clip_grad_norm_([p, q], 1.0)
    norm = sum((g.double() ** 2).sum().item() for g in (p.grad, q.grad)) ** 0.5
    assert abs(norm - 1) < 1e-5


def test_clipping_of_nothing() -> None:
    assert nn.utils.clip_grad_norm_([nn.Parameter(torch.ones(1))], 1.0).item() == 0
    with pytest.warns(UserWarning, match="empty generator"):
        nn.utils.clip_grad_norm_((p for p in ()), 1.0)


def test_clipping_is_seen_by_the_version_counter() -> None:
    p = nn.Parameter(torch.zeros(2))
    p.grad = torch.tensor([3.0, 4.0])
    version = p.grad._version
    nn.utils.clip_grad_norm_([p], 1.0)
    assert p.grad._version > version


def test_parameters_as_a_vector_and_back() -> None:
    layer = nn.Linear(3, 2)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (8,)
    assert vector.requires_grad
    nn.utils.vector_to_parameters(torch.arange(8.0), layer.parameters())
    assert layer.weight.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert layer.bias.tolist() == [6, 7]
    before = layer.weight.tolist()
    with pytest.raises(RuntimeError, match="8 elements, the vector 3"):
        nn.utils.vector_to_parameters(torch.ones(3), layer.parameters())
    with pytest.raises(TypeError, match="expected a Tensor"):
        nn.utils.vector_to_parameters([1.0], layer.parameters())
    assert layer.weight.tolist() == before


def test_softmax_without_a_dimension_warns_at_the_call() -> None:
    for layer in (nn.Softmax(), nn.LogSoftmax(), nn.Softmin()):
        with pytest.warns(UserWarning, match="Implicit dimension choice") as caught:
            layer(torch.ones(2, 3))
        assert caught[0].filename == __file__
