"""Saved tensor hooks and mutation mode: what hooks are given, how often, and what errors leave behind."""

from __future__ import annotations

import asyncio

import pytest


def identity(t):
    return t


def detached(t):
    return t.detach()


class Counter:
    """A pair of hooks that remembers what it saw."""

    def __init__(self, torch):
        self.packed, self.unpacked = [], []
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, self.unpack)

    def pack(self, t):
        self.packed.append(t)
        return t.detach()

    def unpack(self, t):
        self.unpacked.append(t)
        return t

    @property
    def counts(self):
        return len(self.packed), len(self.unpacked)


def leaf(torch, *values):
    return torch.tensor(list(values) or [1.0, 2.0], requires_grad=True)


# -- what pack is given, and how often --

COUNTS = {
    "x * x": (lambda t, x, c: x * x, 2),
    "x * constant": (lambda t, x, c: x * c, 1),
    "x * number": (lambda t, x, c: x * 3, 0),
    "x + constant": (lambda t, x, c: x + c, 0),
    "x / x": (lambda t, x, c: x / x, 2),
    "x ** 2": (lambda t, x, c: x**2, 1),
    "x ** x": (lambda t, x, c: x**x, 3),
    "exp": (lambda t, x, c: x.exp(), 1),
    "sum": (lambda t, x, c: x.sum(), 0),
    "where": (lambda t, x, c: t.where(c > 1, x, x), 1),
    "matmul": (lambda t, x, c: x.reshape(2, 1) @ x.reshape(1, 2), 2),
    "constant": (lambda t, x, c: c.sin(), 0),
}


@pytest.mark.parametrize("name", COUNTS)
def test_how_many_tensors_are_saved(torch, name):
    call, expected = COUNTS[name]
    counter = Counter(torch)
    with counter.hooks:
        y = call(torch, leaf(torch), torch.tensor([3.0, 4.0]))
    assert counter.counts == (expected, 0)
    if y.requires_grad:
        y.sum().backward(retain_graph=True)
        y.sum().backward()
    assert counter.counts == (expected, 2 * expected)


def test_pack_is_given_the_tensors_themselves(torch):
    counter = Counter(torch)
    x = leaf(torch)
    with counter.hooks:
        y = x * x
        z = y.sin()
        e = z.exp()
    first, second, of_sin, of_exp = counter.packed
    assert first is x and second is x and of_sin is y
    assert of_exp.requires_grad and not of_exp.is_leaf and of_exp.grad_fn is e.grad_fn and of_exp.tolist() == e.tolist()


def test_views_and_parameters(torch):
    counter = Counter(torch)
    x = leaf(torch, 1.0, 2.0, 3.0)
    parameter = torch.nn.Parameter(torch.ones(2))
    with counter.hooks:
        v = (x * 1)[1:]
        v.sin()
        parameter * parameter
    assert counter.packed[0] is v and counter.packed[1] is parameter
    assert type(counter.packed[1]) is torch.nn.Parameter


def test_nothing_is_packed_where_nothing_is_recorded(torch):
    counter = Counter(torch)
    x = leaf(torch)
    with counter.hooks:
        with torch.no_grad():
            x.sin()
        with torch.inference_mode():
            x.detach().exp()
    assert counter.counts == (0, 0)


def test_a_node_unpacks_all_that_it_saved(torch):
    counter = Counter(torch)
    x, y = leaf(torch), leaf(torch)
    with counter.hooks:
        z = (x * y).sum()
    torch.autograd.grad(z, x, retain_graph=True)
    assert counter.counts == (2, 2)
    torch.autograd.grad(z, y)
    assert counter.counts == (2, 4)


def test_the_graph_of_the_gradients_is_packed_where_the_block_is_open(torch):
    counter = Counter(torch)
    x = leaf(torch)
    with counter.hooks:
        y = x.sin().sum()
        torch.autograd.grad(y, x, create_graph=True)
    inside = counter.counts[0]
    assert inside > 1
    counter = Counter(torch)
    with counter.hooks:
        y = x.sin().sum()
    torch.autograd.grad(y, x, create_graph=True)
    assert counter.counts == (1, 1)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_the_gradient_of_gelu_keeps_two_tensors(torch, approximate):
    x = leaf(torch, -1.0, 0.0, 2.0)
    y = torch.nn.functional.gelu(x, approximate=approximate)
    counter = Counter(torch)
    with counter.hooks:
        (grad,) = torch.autograd.grad(y, x, torch.ones(3, requires_grad=True), create_graph=True)
    assert type(grad.grad_fn).__name__ == "GeluBackwardBackward0"
    assert sorted(t.tolist() for t in counter.packed) == [x.tolist(), [1.0] * 3]


@pytest.mark.parametrize("packed", [None, 1, "text", [1], {}])
def test_pack_may_return_anything(torch, packed):
    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed, lambda p: torch.tensor([0.0, 0.0])):
        y = x.sin()
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_an_unpacked_leaf_is_a_new_tensor_with_the_same_history(torch):
    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(identity, identity):
        y = x * x
        e = x.exp()
    saved = y.grad_fn._saved_self
    assert saved is not x and saved.is_leaf and saved.requires_grad and saved.tolist() == x.tolist()
    saved = e.grad_fn._saved_result
    assert saved.grad_fn is e.grad_fn and saved.requires_grad


def test_a_manager_can_be_entered_again(torch):
    counter = Counter(torch)
    x = leaf(torch)
    with counter.hooks:
        with counter.hooks:
            x.sin()
        x.sin()
    x.sin()
    assert counter.counts[0] == 2
    with pytest.raises(ValueError), counter.hooks:
        raise ValueError
    x.sin()
    assert counter.counts[0] == 2


def test_subclasses_have_arguments_of_their_own(torch):
    class Scaled(torch.autograd.graph.saved_tensors_hooks):
        def __init__(self, by, name, note=None):
            super().__init__(lambda t: t * by, lambda t: t / by)
            self.name, self.note = name, note

    x = leaf(torch)
    with Scaled(2, "two", note="doubled") as nothing:
        y = (x * x).sum()
    y.backward()
    assert nothing is None and x.grad.tolist() == [2.0, 4.0]


# -- errors --


def test_unpack_that_raises_can_be_tried_again(torch):
    x, tries = leaf(torch), []

    def unpack(t):
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("disk is busy")
        return t

    with torch.autograd.graph.saved_tensors_hooks(detached, unpack):
        y = x.sin().sum()
    with pytest.raises(ValueError, match="disk is busy"):
        y.backward()
    assert x.grad is None
    y.backward()
    assert len(tries) == 2 and x.grad is not None


@pytest.mark.parametrize("value", [None, 1, "text"])
def test_unpack_must_return_a_tensor(torch, value):
    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(identity, lambda p: value):
        y = x.sin()
    message = (
        f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(value).__name__}"
    )
    with pytest.raises(TypeError, match=message):
        y.sum().backward()
    with pytest.raises(TypeError, match=message):
        y.grad_fn._saved_self


def test_pack_must_not_write(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), identity):
        for call in (lambda: (x * 1).sin(), lambda: (x * 1).exp(), lambda: Square.apply(x * 1), x.sin):
            with pytest.raises(RuntimeError, match="pack hook cannot be modified by in-place operations"):
                call()
    assert torch.is_grad_enabled()


def test_raw_saved_tensors(torch):
    x = leaf(torch)
    y = x * torch.ones(2)
    raw = y.grad_fn._raw_saved_other
    assert type(raw).__name__ == "SavedTensor"
    with pytest.raises(TypeError, match=r"register_hooks\(\)"):
        raw.register_hooks(1, 1)
    with pytest.raises(RuntimeError, match="saved tensor with value None is forbidden"):
        y.grad_fn._raw_saved_self.register_hooks(identity, identity)
    raw.register_hooks(lambda t: t * 2, lambda t: t * 3)
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        raw.register_hooks(identity, identity)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
    with pytest.raises(RuntimeError, match="on a saved tensor after it has been freed"):
        raw.register_hooks(identity, identity)


def test_forbidding_nests(torch):
    graph = torch.autograd.graph

    def enter():
        with graph.saved_tensors_hooks(identity, identity):
            pass

    with graph.disable_saved_tensors_hooks("outer"):
        with graph.disable_saved_tensors_hooks("inner"), pytest.raises(RuntimeError, match="inner"):
            enter()
        with pytest.raises(RuntimeError, match="outer"):
            enter()
    enter()

    @graph.disable_saved_tensors_hooks("decorated")
    def inside():
        enter()

    for _ in range(2):
        with pytest.raises(RuntimeError, match="decorated"):
            inside()
    with pytest.raises(TypeError, match="incompatible function arguments"), graph.disable_saved_tensors_hooks(5):
        pass


def test_save_on_cpu_arguments(torch):
    graph = torch.autograd.graph
    assert issubclass(graph.save_on_cpu, graph.saved_tensors_hooks)
    for manager in (graph.save_on_cpu(), graph.save_on_cpu(True), graph.save_on_cpu(False, device_type="xpu")):
        x = leaf(torch)
        with manager:
            y = (x * x).sum()
        y.backward()
        assert x.grad.tolist() == [2.0, 4.0]


def test_what_is_for_compilers_only(torch):
    graph = torch.autograd.graph
    for value, error in ((2.0, ValueError), ("half", TypeError), (0.5, RuntimeError)):
        with pytest.raises(error, match="region_activation_memory_budget"):
            graph.region_activation_memory_budget(value)
    graph.set_warn_on_accumulate_grad_stream_mismatch(True)
    graph.set_override_stale_capture_stream(False)


# -- mutation mode --


def test_copies_are_made_once_and_shared(torch):
    counts = []
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as kept:

        def note():
            counts.append((len(kept.cloned), len(kept.original)))

        a = leaf(torch)
        b = a.clone()
        y = b.sin()
        z = b.cos()
        note()  # one tensor, saved twice
        b.mul_(2)
        b.mul_(2)
        note()
        e = b.exp()
        note()
        e.mul_(2.0)
        note()
        assert len(kept.tid_to_weakhandle) == 2
        del y, z
        note()
        kept.clear()
        note()
    assert counts == [(0, 1), (1, 0), (1, 1), (2, 0), (1, 0), (0, 0)]
    assert not kept.cloned and not kept.original and not kept.sid_to_tid


def test_gradients_of_what_was_saved(torch):
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        a = leaf(torch, 0.0, 1.0, 2.0)
        b = a.clone()
        y = b.sin()
        b.exp_()
        b.add_(1)
        (y + b).sum().backward()
        assert torch.allclose(a.grad, a.detach().cos() + a.detach().exp())
        a.grad = None
        b = a.clone()
        y = (b**3).sum()
        with torch.no_grad():
            b.zero_()
        y.backward(retain_graph=True)
        y.backward()
        assert torch.allclose(a.grad, 6 * a.detach() ** 2)
        b = a.clone()
        y = (b**3).sum()
        b.sin_()
        (g,) = torch.autograd.grad(y, a, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), a)
        assert torch.allclose(h, 6 * a.detach())


def test_functions_in_mutation_mode(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            assert torch.equal(y, x * x)
            return g * 2 * x

    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        a = leaf(torch)
        b = a.clone()
        y = Square.apply(b)
        out = y.sum()
        b.zero_()
        y.detach().zero_()
        out.backward()
    assert a.grad.tolist() == [2.0, 4.0]


def test_mutation_mode_ends(torch):
    graph = torch.autograd.graph
    with graph.allow_mutation_on_saved_tensors():
        a = leaf(torch)
        y = (a.clone() ** 2).sum()
        with pytest.raises(RuntimeError, match="contexts cannot be nested"), graph.allow_mutation_on_saved_tensors():
            pass
    for manager in (graph.save_on_cpu(), graph.allow_mutation_on_saved_tensors()):
        with manager, pytest.raises(AssertionError, match="Trying to backward outside of the 'allow_mutation"):
            y.backward()


def test_mutation_mode_as_decorator(torch):
    @torch.autograd.graph.allow_mutation_on_saved_tensors()
    def gradient():
        a = leaf(torch)
        b = a.clone()
        y = (b**2).sum()
        b.sin_()
        y.backward()
        return a.grad.tolist()

    assert gradient() == gradient() == [2.0, 4.0]


# -- ours only --


@pytest.fixture
def ours(torch, real):
    if real:
        pytest.skip("torch differs here on purpose")
    return torch


def test_views_in_mutation_mode(ours):
    with ours.autograd.graph.allow_mutation_on_saved_tensors():
        a = leaf(ours, 0.0, 1.0, 2.0, 3.0)
        b = a.clone()
        y = (b[1:3] ** 3).sum()
        b.mul_(0)
        y.backward()
        assert a.grad.tolist() == [0.0, 3.0, 12.0, 0.0]
        a.grad = None
        b = a.clone()
        y = (b**3).sum()
        b[1:3].mul_(0)
        y.backward()
        assert a.grad.tolist() == [0.0, 3.0, 12.0, 27.0]


@pytest.mark.parametrize("pack", [identity, lambda t: (t,)], ids=["itself", "in a tuple"])
def test_packing_a_result_unchanged_leaks_nothing(ours, pack):
    import weakref

    x = leaf(ours)
    with ours.autograd.graph.saved_tensors_hooks(pack, lambda p: p[0] if isinstance(p, tuple) else p):
        y = x.exp()
        z = (x * x) * x
    y.sum().backward(retain_graph=True)
    gone = [weakref.ref(y.grad_fn), weakref.ref(z.grad_fn)]
    del y, z
    assert [ref() for ref in gone] == [None, None]


def test_unpack_of_a_result_gets_what_pack_returned(ours):
    given, seen = [], []
    x = leaf(ours)
    with ours.autograd.graph.saved_tensors_hooks(lambda t: (given.append(t), t)[1], lambda p: (seen.append(p), p)[1]):
        y = x.exp()
    y.sum().backward()
    assert seen[0] is given[0] and given[0] is not y


def test_names_of_the_javascript_interface(ours):
    autograd = ours.autograd
    for name in (
        "PackHook UnpackHook saved_tensors_hooks save_on_cpu disable_saved_tensors_hooks "
        "allow_mutation_on_saved_tensors".split()
    ):
        assert getattr(autograd, name) is getattr(autograd.graph, name)


def test_coroutine_functions_keep_their_hooks_across_awaits(ours):
    graph = ours.autograd.graph
    x, counter = leaf(ours), Counter(ours)

    async def work():
        x.sin()
        await asyncio.sleep(0)
        x.sin()
        await graph.disable_saved_tensors_hooks(bare)

    async def bare():
        x.sin()
        await asyncio.sleep(0)
        x.sin()

    async def both():
        await asyncio.gather(graph.saved_tensors_hooks(counter.pack, counter.unpack, work), bare())

    asyncio.run(both())
    assert counter.counts[0] == 2


def test_the_only_input_is_saved_also_where_its_edge_leads_nowhere(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        part = x[:1]
    counter = Counter(torch)
    with counter.hooks:
        alone, pair = part.exp(), part * part
    assert [tuple(t.shape) for t in counter.packed] == [(1,)]
    assert alone.requires_grad and pair.requires_grad
    alone.sum().backward()
    assert counter.counts == (1, 1)
    assert x.grad is None
