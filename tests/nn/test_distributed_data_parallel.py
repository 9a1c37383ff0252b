"""`DistributedDataParallel` on ranks that are threads."""

from __future__ import annotations

import contextlib
import copy
import gc
import pickle
import weakref
from datetime import timedelta

import pytest

import gradpack as torch
from gradpack import saved

dist, nn, F = torch.distributed, torch.nn, torch.nn.functional
DDP = nn.parallel.DistributedDataParallel
hooks = torch.distributed.algorithms.ddp_comm_hooks.default_hooks


def on(n, body, *args):
    def rank(r):
        dist.init_process_group("threads", timeout=timedelta(seconds=60))
        return body(r, *args)

    return dist.threads.spawn(rank, nprocs=n)


def net(width=16):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 3))


def batch(rows=12):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(rows, 6, generator=generator), torch.randint(0, 3, (rows,), generator=generator)


def part(r, n, tensors):
    return [t[r * len(t) // n : (r + 1) * len(t) // n] for t in tensors]


def steps(model, x, y, count=5):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(count):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return [p.detach().clone() for p in model.parameters()]


def away(one, other):
    return max((a - b).abs().max().item() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {}, {"bucket_cap_mb": 1e-3}, {"gradient_as_bucket_view": True}, {"find_unused_parameters": True},
        {"static_graph": True},
    ],
    ids=lambda options: next(iter(options), "plain"),
)  # fmt: skip
def test_ranks_train_as_one(n, options):
    alone = steps(net(), *batch())
    models = [net() for _ in range(n)]

    def body(r):
        model = DDP(models[r], **options)
        assert (len(model.reducer.buckets) > 1) is ("bucket_cap_mb" in options)
        return steps(model, *part(r, n, batch()))

    found = on(n, body)
    assert all(away(alone, f) < 1e-6 for f in found)
    assert all(away(found[0], f) == 0 for f in found)


def large_net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(512, 520), nn.Tanh(), nn.Linear(520, 2))


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("kind", ["plain", "hook", "unused", "strided", "sparse", "graph", "accumulated"])
def test_large_gradients_are_averaged_where_they_are(kind):
    """A bucket for each large one, none of which is copied, unless its memory is not that of a dense tensor."""
    x = torch.randn(8, 512, generator=torch.Generator().manual_seed(1))
    models = [large_net() for _ in range(3)]
    if kind == "sparse":
        models = [nn.Sequential(nn.Embedding(1024, 512, sparse=True), large_net()) for _ in range(3)]
        for model in models[1:]:
            model.load_state_dict(models[0].state_dict())
        x = torch.arange(8)
    if kind == "strided":
        for model in models:
            model[0].weight = nn.Parameter(model[0].weight.detach().t().clone().t())

    def take(model, part):
        for _ in range(2 if kind == "accumulated" else 1):
            model(part).square().mean().backward(create_graph=kind == "graph")
        return [p.grad.to_dense().detach().clone() for p in model.parameters()]

    expected = take(models[2], x)

    def body(r):
        model = DDP(models[r], find_unused_parameters=kind == "unused")
        if kind == "hook":
            model.register_comm_hook(None, hooks.allreduce_hook)
        weight, held = next(m for m in models[r].modules() if isinstance(m, nn.Linear)).weight, []
        weight.register_post_accumulate_grad_hook(lambda p: held.append(p.grad.data_ptr()))
        found = take(model, x[r::2])
        assert next(models[r].parameters()).grad.is_sparse is (kind == "sparse")
        if kind in ("plain", "accumulated"):
            assert held[-1] == weight.grad.data_ptr()
            assert all("room" not in vars(b) for b in model.reducer.buckets if len(b.parameters) == 1)
            assert all(b.flat is None for b in model.reducer.buckets)
        return found

    zero, one = on(2, body)
    assert away(zero, one) == 0 and away(zero, expected) < 1e-6


def test_the_model_of_rank_0_counts():
    models = [net(), net()]
    with torch.no_grad():
        for p in models[1].parameters():
            p.zero_()
    buffered = [nn.BatchNorm1d(3), nn.BatchNorm1d(3)]
    buffered[0].running_mean += 1

    def body(r):
        DDP(models[r])
        DDP(buffered[r])

    on(2, body)
    assert away(models[0].parameters(), models[1].parameters()) == 0 and buffered[1].running_mean.tolist() == [1.0] * 3


@pytest.mark.parametrize("broadcast_buffers", [True, False])
def test_buffers_before_each_forward_pass(broadcast_buffers):
    models = [nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 1)) for _ in range(2)]

    def body(r):
        model = DDP(models[r], broadcast_buffers=broadcast_buffers)
        for _ in range(2):
            model(torch.full((4, 2), float(r))).sum().backward()
        assert model(torch.ones(2, 2)).shape == (2, 1)
        return model.module[0].num_batches_tracked.item(), model.module[0].running_mean.tolist()

    zero, one = on(2, body)
    assert zero[0] == one[0] == 3
    assert (zero[1] == one[1]) is broadcast_buffers


def test_gradients_that_are_accumulated_without_messages():
    def body(r):
        model, x = DDP(copy.deepcopy(plain)), part(r, 2, batch())[0]
        with model.no_sync():
            model(x).sum().backward()
            alone = model.module[0].weight.grad.clone()
        model(x).sum().backward()
        return alone, model.module[0].weight.grad

    plain = net()
    (a0, g0), (a1, g1) = on(2, body)
    assert not torch.equal(a0, a1) and torch.equal(g0, g1)
    assert torch.allclose(g0, a0 + a1, atol=1e-6)  # the mean over ranks of two passes each


@pytest.mark.parametrize("options", [{}, {"bucket_cap_mb": 1e-3}, {"find_unused_parameters": True}])
@pytest.mark.parametrize("by_all", [True, False])
def test_ranks_with_fewer_batches_than_others(options, by_all):
    """They take part with gradients of zero, and get the model of the last: as one process that adds zeros."""
    x, y = batch(8)

    def body(r):
        model = DDP(nn.Sequential(copy.deepcopy(plain), nn.BatchNorm1d(3)), **options)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with model.join(divide_by_initial_world_size=by_all):
            for i in range(2 + r):
                with model.no_sync() if i == 1 else contextlib.nullcontext():
                    optimizer.zero_grad()
                    F.cross_entropy(model(x), y).backward()
                if i != 1:
                    optimizer.step()
        with torch.no_grad():
            model(x)  # the context has ended
        return [p.detach() for p in model.parameters()], [b.clone() for b in model.buffers()]

    plain = net()
    one = nn.Sequential(copy.deepcopy(plain), nn.BatchNorm1d(3))
    optimizer = torch.optim.SGD(one.parameters(), lr=0.1)
    for i in range(4):
        optimizer.zero_grad()
        F.cross_entropy(one(x), y).backward()
        if i != 1:
            for p in one.parameters():  # in the last two steps one rank, or two, have ended
                p.grad *= (3 - max(i - 1, 0)) / 3 if by_all else 1
            optimizer.step()
    found = on(3, body)
    assert all(away(f[0], one.parameters()) < 1e-6 for f in found)
    assert all(away(f[0], found[0][0]) == 0 for f in found)


def test_all_end_with_the_first():
    def body(r):
        model = DDP(net())
        said = "at least one rank that exhausted inputs" if r else "Rank 0 exhausted all inputs"

        def loop():
            with model.join(throw_on_early_termination=True):
                for _ in range(1 + r):
                    model(batch()[0]).sum().backward()

        with pytest.raises(RuntimeError, match=said):
            loop()
        with model.join(enable=False):
            model(batch()[0]).sum().backward()

    on(2, body)


def test_copies_of_a_wrapper():
    def body(r):
        model = DDP(net(), bucket_cap_mb=1e-3)
        others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
        for each in (model, *others):
            each(part(r, 2, batch())[0]).sum().backward()
        with pytest.raises(RuntimeError, match="only supported when using DDP with the default process group"):
            copy.deepcopy(DDP(net(), process_group=dist.new_group()))
        return [[p.grad for p in m.parameters()] for m in (model, *others)]

    for grads, copied, pickled in on(2, body):
        assert away(grads, copied) == away(grads, pickled) == 0


def test_names_to_ignore_and_the_graph_that_stays():
    def body(r):
        model = net()
        DDP._set_params_and_buffers_to_ignore_for_model(model, ["0.weight"])
        model = DDP(model)
        model._set_static_graph()
        model(part(r, 2, batch())[0]).sum().backward()
        return model.module[0].weight.grad, model.module[2].weight.grad

    (own, shared), (other, same) = on(2, body)
    assert not torch.equal(own, other) and torch.equal(shared, same)


def test_statistics_that_would_have_to_be_exchanged():
    def body(r):
        model = DDP(nn.SyncBatchNorm(2))
        model.eval()(torch.ones(3, 2))
        with pytest.raises(ValueError, match="SyncBatchNorm: statistics are not exchanged between ranks"):
            model.train()(torch.ones(3, 2))

    on(2, body)
    assert nn.SyncBatchNorm(2)(torch.ones(3, 2)).shape == (3, 2)


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.one, self.two, self.never = nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(3, 2)

    def forward(self, x, way):
        return {"y": (self.one if way else self.two)(x)}


def test_parameters_without_a_part_in_the_outputs():
    models = [Branches(), Branches()]

    def body(r):
        model = DDP(models[r], find_unused_parameters=True)
        for _ in range(2):
            model.zero_grad()
            model(torch.full((1, 3), 2.0), way=r == 0)["y"].sum().backward()
        grads = [None if p.grad is None else p.grad.sum().item() for p in model.module.parameters()]
        model(torch.ones(1, 3), way=True)["y"].sum().backward()
        return grads, model.module.one.bias.grad.tolist()

    for grads, bias in on(2, body):
        assert grads == [6.0, 1.0, 6.0, 1.0, None, None]  # half of what one rank has, and none where there is none
        assert bias == [1.5, 1.5]


def test_unused_parameters_that_are_not_looked_for():
    models = [Branches(), Branches()]

    def body(r):
        model = DDP(models[r])
        model(torch.ones(1, 3), way=True)["y"].sum().backward()
        model(torch.ones(1, 3), way=True)

    said = r"Expected to have finished reduction.*did not receive grad for rank \d: .*two.weight"
    with pytest.raises(RuntimeError, match=said):
        on(2, body)


@pytest.mark.parametrize(
    ("hook", "tolerance"),
    [
        (hooks.allreduce_hook, 1e-7),
        (hooks.bf16_compress_hook, 1e-2),
        (hooks.fp16_compress_hook, 1e-3),
        (hooks.bf16_compress_wrapper(hooks.allreduce_hook), 1e-2),
        (hooks.fp16_compress_wrapper(hooks.allreduce_hook), 1e-3),
    ],
)
def test_hooks_that_reduce(hook, tolerance):
    kinds = set()

    def watched(state, bucket):
        done = hook(state, bucket)
        kinds.add(bucket.buffer().dtype)
        assert [g.shape for g in bucket.gradients()] == [p.shape for p in bucket.parameters()]
        assert bucket.index() == 0 and bucket.is_last()
        return done

    def body(r, hook=None):
        model = DDP(copy.deepcopy(plain))
        if hook is not None:
            model.register_comm_hook(None, hook)
            with pytest.raises(RuntimeError, match="can only be called once"):
                model.register_comm_hook(None, hook)
        x, y = part(r, 2, batch())
        F.cross_entropy(model(x), y).backward()
        return [p.grad for p in model.parameters()]

    plain = net()
    exact, found = on(2, body), on(2, body, watched)
    assert away(found[0], found[1]) == 0
    assert away(exact[0], found[0]) <= tolerance and (away(exact[0], found[0]) > 0 or tolerance < 1e-6)
    assert all(g.dtype is torch.float32 for g in found[0])


def test_policies_for_saved_tensors_on_each_rank():
    def body(r):
        x, y = part(r, 2, batch())
        model = DDP(copy.deepcopy(plain))
        with saved.lossless() if r else saved.disk():
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        checkpointed = DDP(copy.deepcopy(plain))
        whole = torch.utils.checkpoint.checkpoint(checkpointed.module[:3], x, use_reentrant=False)
        F.cross_entropy(checkpointed.module[3:](whole), y).backward()
        return [p.grad for p in model.parameters()], [p.grad for p in checkpointed.parameters()]

    plain = net()
    x, y = batch()
    F.cross_entropy(plain(x), y).backward()
    for grads, others in on(2, body):
        assert away(grads, [p.grad for p in plain.parameters()]) < 1e-6 and away(grads, others) == 0


def test_a_budget_on_each_rank():
    def body(r):
        x, y = part(r, 2, batch(400))
        model = DDP(copy.deepcopy(plain))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        budget, peaks = saved.budget("20 KB" if r else "1 MB"), []
        for _ in range(4):
            optimizer.zero_grad()
            with saved.record() as record, budget:
                F.cross_entropy(model(x), y).backward()
            optimizer.step()
            peaks.append(record.peak)
        return [p.detach() for p in model.parameters()], peaks[-1]

    plain = net(32)
    (ours, large), (theirs, small) = on(2, body)
    assert away(ours, theirs) == 0 and small < large / 2 and small <= 20 * 1024


def test_wrong_models():
    frozen = nn.Linear(2, 2).requires_grad_(False)

    def body(r):
        for module, options, kind, said in (
            (frozen, {}, RuntimeError, "not needed when a module doesn't have any parameter that requires a gradient"),
            (nn.LazyLinear(2), {}, RuntimeError, "Modules with uninitialized parameters"),
            (net(), {"device_ids": [0, 1]}, ValueError, "device_ids can only be None or contain a single element"),
            (net(), {"device_ids": [0]}, ValueError, "device_ids only work with GPU modules"),
            (net(), {"device_mesh": object()}, TypeError, "has no argument device_mesh in gradpack"),
        ):
            with pytest.raises(kind, match=said):
                DDP(module, **options)
        with pytest.raises(
            RuntimeError, match=r"DDP expects same model across all ranks, but rank 0 .*weight.*16.* rank 1"
        ):
            DDP(net(16 + r))
        with pytest.raises(TypeError, match="Communication hook must be callable"):
            DDP(net()).register_comm_hook(None, 3)

    on(2, body)
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        DDP(net())


def test_gradients_that_come_twice():
    def body(r):
        model, x = DDP(net(), find_unused_parameters=True), torch.randn(2, 6, requires_grad=True)
        y = model(x)
        twice = torch.utils.checkpoint.checkpoint(model.module[0], x, use_reentrant=True)
        (y.sum() + twice.sum()).backward()

    with pytest.raises(RuntimeError, match=r"mark a variable ready only once.*0.weight"):
        on(1, body)


def test_a_model_is_freed_with_its_wrapper():
    def body(r):
        model = DDP(net())
        model(torch.ones(1, 6)).sum().backward()
        seen, module = weakref.ref(model), model.module
        gc.disable()
        try:
            del model
            assert seen() is None
        finally:
            gc.enable()
        before = module[0].weight.grad.clone()
        module(torch.ones(1, 6)).sum().backward()  # no messages: the other rank does not come along
        return torch.allclose(module[0].weight.grad, 2 * before)

    assert on(1, body) == [True]


def test_keys_and_samplers():
    def body(r):
        model = DDP(net())
        assert next(iter(model.state_dict())) == "module.0.weight" and model.module[0].weight.requires_grad
        sampler = torch.utils.data.DistributedSampler(range(5), shuffle=False)
        return list(sampler)

    assert on(2, body) == [[0, 2, 4], [1, 3, 0]]
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        torch.utils.data.DistributedSampler(range(5))
