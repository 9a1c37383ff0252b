"""Programs under inference mode and autocast: around a call, inside of a function, and both."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack import nn

CALLS = 7


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2))


def batch(i):
    return torch.tensor(np.random.default_rng(i).standard_normal((3, 4)), dtype=torch.float32)


def hits(compiled):
    found = getattr(compiled, "compiled", compiled)
    return found.hits + found.compared


def test_programs_run_in_inference_mode_and_make_inference_tensors():
    net = network()
    compiled = torch.compile(net)
    for i in range(CALLS):
        with torch.inference_mode():
            found = compiled(batch(i))
            assert found.is_inference() and not found.requires_grad
            assert torch.equal(found, net(batch(i)))
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved"):
            (found * torch.ones(1, requires_grad=True)).sum()
    assert hits(compiled) == CALLS - 2


def test_a_mode_has_its_own_program():
    net = network()
    compiled = torch.compile(net)
    for i in range(4 * CALLS):
        with (
            torch.inference_mode(i % 4 == 0),
            torch.set_grad_enabled(i % 4 != 1),
            torch.autocast("cpu", enabled=i % 4 == 2),
        ):
            found, wanted = compiled(batch(i)), net(batch(i))
        assert (found.is_inference(), found.requires_grad, found.dtype) == (i % 4 == 0, i % 4 > 1, wanted.dtype)
        assert torch.equal(found, wanted)
    assert len(compiled.compiled.kept) == 4 and hits(compiled) == 4 * CALLS - 5


def test_functions_in_inference_mode():
    weight = torch.ones(4, requires_grad=True)

    @torch.inference_mode()
    def total(x):
        return (x * weight).sum(), x[0]

    compiled = torch.compile(total)
    for i in range(CALLS):
        found, row = compiled(batch(i))
        wanted, _ = total(batch(i))
        assert torch.equal(found, wanted) and found.is_inference() and not row.is_inference()
        row.add_(1)
    assert hits(compiled) == CALLS - 2


def test_inference_tensors_are_arguments_and_state():
    with torch.inference_mode():
        weight, counted = torch.ones(4), torch.zeros(1)
        xs = [batch(i) for i in range(CALLS)]
    compiled = torch.compile(lambda x: (x * weight).sum())

    @torch.compile
    def count(x):
        counted.add_(x.sum())
        return counted + 1

    for x in xs:
        assert torch.equal(compiled(x), x.sum())
    assert hits(compiled) == CALLS - 2
    total = 0.0
    with torch.inference_mode():
        for x in xs:
            total += float(x.sum())
            assert float(count(x)) == pytest.approx(total + 1)
    assert hits(count) == CALLS - 2
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        count(xs[0])
    assert float(counted) == pytest.approx(total)


def test_a_program_for_plain_tensors_takes_no_inference_tensor():
    weight = torch.ones(4, requires_grad=True)
    compiled = torch.compile(lambda x: (x * weight).sum())
    for i in range(CALLS):
        compiled(batch(i)).backward()
    with torch.inference_mode():
        x = batch(0)
    for _ in range(4):
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved"):
            compiled(x)
    assert hits(compiled) == CALLS - 2


@pytest.mark.parametrize("around", [True, False], ids=["around", "inside"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_steps_under_autocast(around, dtype):
    nets = network(), network()
    optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]

    def loss_of(net, x):
        with torch.autocast("cpu", dtype, enabled=not around):
            return net(x).float().square().mean()

    compiled = torch.compile(lambda x: loss_of(nets[0], x))
    for i in range(CALLS):
        losses = []
        for optimizer, step in zip(optimizers, (compiled, lambda x: loss_of(nets[1], x)), strict=True):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype, enabled=around):
                loss = step(batch(i))
            loss.backward()
            optimizer.step()
            losses.append(loss)
        torch.testing.assert_close(*losses, rtol=1e-2, atol=1e-3)
        for a, b in zip(nets[0].parameters(), nets[1].parameters(), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-2, atol=1e-3)
    assert hits(compiled) == CALLS - 2


def test_casts_that_an_autocast_block_keeps_are_no_constants():
    layer = nn.Linear(4, 4)
    compiled = torch.compile(lambda x: layer(x))
    with torch.autocast("cpu"):
        for i in range(CALLS):
            assert torch.equal(layer(batch(i)), compiled(batch(i)))
            with torch.no_grad():
                layer.weight.add_(1.0)
    assert hits(compiled) == CALLS - 2


def test_memory_that_grows_inside_is_recorded():
    @torch.compile
    def function(x):
        less, more, none, other = x * 2, x + 1, x * 3, x * 4
        less.resize_(3)
        more.resize_(2, 4).mul_(2)
        none.set_()
        other.set_(x * 5)
        return less.mul_(2), more, none, other.unsqueeze_(0)

    for i in range(CALLS):
        x = batch(i)[0]
        less, more, none, other = function(torch.cat([x, x[:1]]))
        assert torch.equal(less, x[:3] * 4) and none.shape == (0,)
        assert torch.equal(more, torch.cat([(x + 1) * 2, (x[:1] + 1) * 2, torch.zeros(3)]).view(2, 4))
        assert torch.equal(other, torch.cat([x, x[:1]])[None] * 5)
    assert hits(function) == CALLS - 2


def test_an_argument_that_gets_other_memory_has_no_program():
    function = torch.compile(lambda x: x.resize_(6).mul_(2))
    function(torch.ones(4))
    with pytest.warns(UserWarning, match="it gives x other memory"):
        function(torch.ones(4))
    for _ in range(3):
        x = torch.ones(4)
        assert function(x) is x and x.tolist() == [2, 2, 2, 2, 0, 0]


def test_stances():
    double = torch.compile(lambda x: x * 2)
    x = torch.ones(2)
    with torch.compiler.set_stance("fail_on_recompile"), pytest.raises(RuntimeError, match="Detected recompile"):
        double(x)
    for _ in range(3):
        double(x)
    seen, hits_before = [], hits(double)
    with torch.compiler.set_stance("fail_on_recompile"):
        assert torch.equal(double(x), x * 2) and hits(double) == hits_before + 1
        with pytest.raises(RuntimeError, match=r"Detected recompile .*had \[2\]"):
            double(torch.ones(3))
    with torch.compiler.set_stance("eager_on_recompile"):
        for _ in range(4):
            assert double(torch.ones(3)).tolist() == [2, 2, 2]
    assert len(double.kept) == 1

    @torch.compiler.set_stance("force_eager")
    def without(x):
        seen.append(torch.compiler.is_compiling())
        return double(x)

    hits_before = hits(double)
    assert torch.equal(without(x), x * 2) and hits(double) == hits_before and seen == [False]
    torch.compiler.set_stance("force_eager")
    try:
        double(x)
    finally:
        torch.compiler.set_stance()
    assert hits(double) == hits_before
    double(x)
    assert hits(double) == hits_before + 1
    with pytest.raises(RuntimeError, match=r"invalid .* stance 'eager'"):
        torch.compiler.set_stance("eager")
    with pytest.raises(RuntimeError, match="non-default stance cannot have force_backend set"):
        torch.compiler.set_stance("force_eager", force_backend="eager")


def test_the_default_backend():
    torch.compiler.set_default_backend("eager")
    try:
        assert torch.compile(torch.square) is torch.square and torch.compiler.get_default_backend() == "eager"
    finally:
        torch.compiler.set_default_backend(None)
    assert torch.compiler.get_default_backend() == "inductor"
    with pytest.raises(TypeError, match="backend must be a string or callable, got <class 'int'>"):
        torch.compiler.set_default_backend(3)


def test_functions_of_arrays_of_numpy_take_tensors():
    @torch.compiler.wrap_numpy
    def function(x, *, of):
        return {"sum": x.sum(0) + of[0], "name": "n", "mean": x.mean()}

    found = function(torch.ones(3, 2), of=[torch.ones(2)])
    assert torch.equal(found["sum"], torch.full((2,), 4.0)) and found["name"] == "n" and found["mean"] == 1
