"""Selective checkpointing: results of some operations are kept, the rest is computed again."""

from __future__ import annotations

import copy
import functools

import pytest


@pytest.fixture
def run(checkpointing):
    """Checkpoint a function with a policy or a list of operations."""

    def call(function, *args, policy, **options):
        contexts = functools.partial(checkpointing.create_selective_checkpoint_contexts, policy, **options)
        return checkpointing.checkpoint(function, *args, use_reentrant=False, context_fn=contexts)

    return call


def square(torch):
    return (torch.arange(9.0).reshape(3, 3) / 10).requires_grad_()


def test_names_of_operations(torch):
    aten = torch.ops.aten
    assert str(aten.mm.default) == "aten.mm.default" and str(aten.mm) == "aten.mm"
    assert repr(aten.mm.default) == "<OpOverload(op='aten.mm', overload='default')>"
    assert repr(aten.mm) == "<OpOverloadPacket(op='aten.mm')>"
    assert aten.mm.default.name() == "aten::mm" and aten.add.Tensor.name() == "aten::add.Tensor"
    assert aten.mm.default.__name__ == "mm.default"
    assert aten.mm.default is aten.mm.default and aten.mm.default.overloadpacket is aten.mm
    with pytest.raises(AttributeError, match="no overload name 'foo'"):
        aten.mm.foo
    with pytest.raises(AttributeError, match="no attribute 'no_such_operation'"):
        aten.no_such_operation
    x = torch.eye(2)
    assert aten.mm.default(x, x).tolist() == aten.mm(x, x).tolist() == x.tolist()


def test_policy_is_asked_in_forward_only(torch, checkpointing, run):
    asked = []

    def policy(ctx, op, *args, **kwargs):
        asked.append((str(op), ctx.is_recompute, tuple(ctx.op_output.shape)))
        return checkpointing.CheckpointPolicy.MUST_SAVE

    x = square(torch)
    run(lambda x: (x @ x).sin().sum(0), x, policy=policy).sum().backward()
    assert asked == [
        ("aten.mm.default", False, (3, 3)),
        ("aten.sin.default", False, (3, 3)),
        ("aten.sum.dim_IntList", False, (3,)),
    ]


@pytest.mark.parametrize("name", ["MUST_SAVE", "PREFER_SAVE", "MUST_RECOMPUTE", "PREFER_RECOMPUTE"])
def test_same_gradients(torch, checkpointing, run, name):
    def segment(x, y):
        return torch.sigmoid(torch.matmul(torch.matmul(x, y), y)) * y.t().reshape(9)[3:].view(2, 3).sum(0)

    x, y = square(torch), square(torch)
    run(segment, x, y, policy=lambda *a, **k: checkpointing.CheckpointPolicy[name]).sum().backward()
    found = x.grad.clone(), y.grad.clone()
    x.grad = y.grad = None
    segment(x, y).sum().backward()
    assert torch.allclose(found[0], x.grad) and torch.allclose(found[1], y.grad)


def test_list_of_operations(torch, checkpointing, run):
    x = square(torch)
    run(lambda x: (x @ x).exp(), x, policy=[torch.ops.aten.mm.default]).sum().backward()
    found, x.grad = x.grad.clone(), None
    (x @ x).exp().sum().backward()
    assert torch.allclose(found, x.grad)
    with pytest.raises(ValueError, match="OpOverloadPacket to a specific OpOverload"):
        checkpointing.create_selective_checkpoint_contexts([torch.ops.aten.mm])
    with pytest.raises(TypeError, match="must be either a function or a list of ops"):
        checkpointing.create_selective_checkpoint_contexts((torch.ops.aten.mm.default,))


def test_what_is_kept_is_not_run_again(torch, run):

    x = square(torch)
    seen = []

    def segment(x):
        y = x @ x
        seen.append(y.data_ptr())
        return y.sin().exp()

    run(segment, x, policy=[torch.ops.aten.mm.default]).sum().backward()
    assert len(seen) == 2 and seen[0] == seen[1]  # the very result of forward


def test_bool_is_a_policy_too(torch, run):
    x = square(torch)
    run(lambda x: x.sin().exp(), x, policy=lambda ctx, op, *a, **k: op is torch.ops.aten.sin.default).sum().backward()
    assert x.grad is not None


def test_linear_layers(torch, checkpointing, run):
    aten, asked = torch.ops.aten, []

    def policy(ctx, op, *args, **kwargs):
        if op in (aten.addmm.default, aten.mm.default):
            asked.append((op, [tuple(a.shape) for a in args if isinstance(a, torch.Tensor)]))
            return checkpointing.CheckpointPolicy.MUST_SAVE
        return checkpointing.CheckpointPolicy.PREFER_RECOMPUTE

    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2, bias=False))
    x = torch.ones(3, 4, requires_grad=True)
    run(model, x, policy=policy).sum().backward()
    assert asked == [(aten.addmm.default, [(5,), (3, 4), (4, 5)]), (aten.mm.default, [(3, 5), (5, 2)])]
    assert x.grad is not None and model[0].weight.grad is not None


def test_backward_twice_is_refused(torch, run):
    x = square(torch)
    y = run(lambda x: (x @ x).sin(), x, policy=[torch.ops.aten.mm.default]).sum()
    y.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        y.backward()
    y = run(lambda x: (x @ x).sin(), x, policy=[]).sum()
    y.backward(retain_graph=True)
    y.backward()


def test_a_write_to_what_is_kept(torch, run):
    def segment(x):
        y = x.sin()
        z = y.exp()
        y.add_(1)
        return z * 2

    sin = torch.ops.aten.sin.default
    y = run(segment, square(torch), policy=[sin])
    with pytest.raises(RuntimeError, match="cached during selective activation checkpoint has been mutated"):
        y.sum().backward()
    run(segment, square(torch), policy=[sin], allow_cache_entry_mutation=True).sum().backward()


def test_another_operation_in_the_second_run(torch, run):
    count = []

    def segment(x):
        count.append(1)
        return (x.sin() if len(count) == 1 else x.cos()).exp()

    y = run(segment, square(torch), policy=[torch.ops.aten.sin.default])
    with pytest.raises(RuntimeError, match=r"aten.cos.default encountered during backward but not found in storage"):
        y.sum().backward()


def test_nested(torch, checkpointing, run):
    aten = torch.ops.aten

    def segment(x):
        return run(lambda y: (y @ y).sin(), x, policy=[aten.mm.default]) * x

    x = square(torch)
    checkpointing.checkpoint(segment, x, use_reentrant=False).sum().backward()
    found, x.grad = x.grad.clone(), None
    ((x @ x).sin() * x).sum().backward()
    assert torch.allclose(found, x.grad)


def test_a_policy_that_raises(torch, run):
    def policy(*args, **kwargs):
        raise ValueError("which?")

    x = square(torch)
    with pytest.raises(ValueError, match="which"):
        run(lambda x: x.sin(), x, policy=policy)
    x.sin().sum().backward()  # the mode is off again


def test_randomness_beside_what_is_kept(torch, run):
    x = torch.ones(4, 4, requires_grad=True)
    y = run(lambda x: torch.nn.functional.dropout(x @ x, 0.5), x, policy=[torch.ops.aten.mm.default])
    y.sum().backward()
    kept = (y.detach() != 0).float() * 2
    assert torch.allclose(x.grad, kept @ torch.ones(4, 4) + torch.ones(4, 4) @ kept)


def test_detach_is_never_asked_about(torch, checkpointing):
    assert torch.ops.aten.detach.default in checkpointing.SAC_IGNORED_OPS


def test_hooks_see_what_the_second_run_serves(torch, checkpointing, run):
    packed = []

    def segment(x):
        y = x @ x
        with torch.autograd.graph.saved_tensors_hooks(lambda t: (packed.append(1), t.detach())[1], lambda t: t):
            return y.sin().exp()

    x = square(torch)
    run(segment, x, policy=[torch.ops.aten.mm.default]).sum().backward()
    found, x.grad = x.grad.clone(), None
    (x @ x).sin().exp().sum().backward()
    assert torch.allclose(found, x.grad) and packed


def test_what_the_second_run_writes_is_not_held_against_it(torch, run):
    def policy(ctx, op, *args, **kwargs):
        return op == torch.ops.aten.sin.default

    x = torch.full((3,), 0.5, requires_grad=True)
    out = run(lambda x: x.sin().mul_(2).cos().exp(), x, policy=policy, allow_cache_entry_mutation=True)
    out.sum().backward()  # of a wrong value, which is what was asked for
    assert x.grad.shape == (3,)
    with pytest.raises(RuntimeError, match="has been mutated"):
        run(lambda x: x.sin().mul_(2).cos().exp(), x, policy=policy).sum().backward()


def test_names_of_operations_are_copied_as_themselves(torch):
    packet = torch.ops.aten.mm
    assert copy.deepcopy(packet) is packet and copy.deepcopy([packet.default])[0] is packet.default
