"""Random programs of views, in-place operations, hooks, modes, Functions and checkpoints, on both libraries."""

from __future__ import annotations

import random
import warnings

import pytest

import gradpack
from gradpack.utils.checkpoint import checkpoint as _loaded  # noqa: F401 - torch.utils.checkpoint, on both

torch = pytest.importorskip("torch")
pytest.importorskip("torch.utils.checkpoint")

VIEWS = [
    lambda x: x[0],
    lambda x: x.view(-1),
    lambda x: x.t() if x.dim() == 2 else x.view_as(x),
    lambda x: x[..., 1:],
    lambda x: x.unsqueeze(0),
    lambda x: x.diagonal() if x.dim() > 1 else x.narrow(0, 0, 1),
    lambda x: x.as_strided((2,), (1,), 0),
]
OPS = [
    lambda x: x * 2,
    lambda x: x.sin(),
    lambda x: x.sum(),
    lambda x: x**2,
    lambda x: x.tanh(),
    lambda x: x.mean(-1),
    lambda x: x.clone(),
    lambda x: x.softmax(-1),
]
WRITES = [
    lambda x: x.mul_(2),
    lambda x: x.add_(1),
    lambda x: x.cos_(),
    lambda x: x.tanh_(),
    lambda x: x.zero_(),
    lambda x: x.clamp_(0, 2),
]


def rounded(value):
    return None if value is None else [round(v, 3) + 0.0 for v in value.detach().flatten().tolist()]


def functions(lib):
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * 2 + 0 * x * y

    class Triple(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def backward(ctx, g):
            return g * 3

    class Same(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, g):
            return g * 5

    return [Double.apply, Triple.apply, Same.apply]


class Program:
    """Runs the steps of one seed with one library and notes what can be seen."""

    def __init__(self, lib, seed):
        self.lib, self.rng, self.log = lib, random.Random(seed), []
        self.leaves = [
            lib.tensor([[0.25, 0.5, 0.75], [1.0, 1.25, 1.5]], requires_grad=True),
            lib.tensor([[0.5, 1.5, 2.5], [1.0, 2.0, 3.0]], requires_grad=True),
            lib.tensor([1.0, 2.0, 0.5], requires_grad=True),
        ]
        self.values = [*self.leaves, self.leaves[0] * 1.5, lib.ones(2, 3) * 0.5]
        self.functions = functions(lib)

    def pick(self):
        return self.values[int(self.rng.random() * len(self.values))]

    def view(self):
        self.values.append(self.rng.choice(VIEWS)(self.pick()))

    def operation(self):
        self.values.append(self.rng.choice(OPS)(self.pick()))

    def product(self):
        x, y = self.pick(), self.pick()
        self.values.append(x * y + x)

    def write(self):
        self.rng.choice(WRITES)(self.pick())

    def write_product(self):
        x, y = self.pick(), self.pick()
        if x is not y:
            x.mul_(y + 1)

    def write_silently(self):
        with self.lib.no_grad():
            self.pick().mul_(1.5)

    def write_part(self):
        self.pick()[..., 0] = self.pick().sum()

    def copy(self):
        x, y = self.pick(), self.pick()
        if x is not y:
            x.copy_(y)

    def detach(self):
        self.values.append(self.pick().detach())

    def detach_in_place(self):
        self.pick().detach_()

    def view_silently(self):
        with self.lib.no_grad():
            self.values.append(self.pick()[..., :1])

    def parts(self):
        self.values.extend(self.pick().unbind(0)[:2])

    def call(self):
        self.values.append(self.rng.choice(self.functions)(self.pick()))

    def checkpoint(self):
        x, y = self.pick(), self.pick()
        self.values.append(
            self.lib.utils.checkpoint.checkpoint(lambda a, b: (a.sin() * b).tanh() * a, x, y, use_reentrant=False)
        )

    def pack(self):
        note, x, y = self.log.append, self.pick(), self.pick().sum()
        hooks = self.lib.autograd.graph.saved_tensors_hooks(
            lambda t: (note(("pack", tuple(t.shape))), t.clone())[1], lambda t: (note(("unpack", tuple(t.shape))), t)[1]
        )
        with hooks:
            self.values.append(x.exp() * y.tanh())

    def hook(self):
        note, i, x, replace = self.log.append, len(self.log), self.pick(), self.rng.random() < 0.3
        if x.is_leaf and x._is_view():  # (fails for a view that must not be used: torch takes a second hook on it)
            return
        x.register_hook(lambda g: (note((i, rounded(g))), g * 2 if replace else None)[1])

    def node_hooks(self):
        note, i, node = self.log.append, len(self.log), self.pick().grad_fn
        if node is not None:
            node.register_prehook(lambda outs: note((i, [rounded(g) for g in outs])))
            node.register_hook(lambda ins, outs: note((i, [rounded(g) for g in ins], [rounded(g) for g in outs])))

    def retain(self):
        self.pick().retain_grad()

    def grad(self):
        create = self.rng.random() < 0.5
        found = self.lib.autograd.grad(
            self.pick().sum(), [self.pick(), self.pick()], retain_graph=True, allow_unused=True, create_graph=create
        )
        self.log.append([rounded(g) for g in found])
        if create and found[0] is not None:
            self.values.append(found[0] * 1)

    def backward(self):
        self.pick().sum().backward(retain_graph=self.rng.random() < 0.8)

    def seen(self, x):
        def or_error(read):
            try:
                return read()
            except RuntimeError as error:
                return str(error)[:30]

        return (
            tuple(x.shape),
            x.requires_grad,
            or_error(lambda: x.is_leaf),
            or_error(lambda: None if x.grad_fn is None else x.grad_fn.name()),
            x._version,
            x._is_view(),
            x.output_nr,
        )

    def run(self):
        steps = [
            self.view, self.operation, self.product, self.write, self.write_product, self.write_silently,
            self.write_part, self.copy, self.detach, self.detach_in_place, self.view_silently, self.parts, self.call,
            self.checkpoint, self.pack, self.hook, self.node_hooks, self.retain, self.grad, self.backward,
        ]  # fmt: skip
        for _ in range(self.rng.randint(4, 14)):
            step = self.rng.choice(steps)
            self.guarded(step.__name__, step)
            self.log.append(
                (step.__name__, [self.seen(x) for x in self.values], [rounded(x.grad) for x in self.leaves])
            )
        self.guarded("end", self.rng.choice([self.end, self.end_twice]))
        self.log.append([rounded(x.grad) for x in self.values])
        return self.log

    def guarded(self, name, step):
        state = self.rng.getstate()
        try:
            step()
        except (RuntimeError, IndexError) as error:
            self.rng.setstate(state)  # the libraries may fail after different draws
            self.log.append((name, " ".join(str(error).split()[:4])))

    def total(self):
        return sum((x.sum() for x in self.values if x.requires_grad), self.lib.zeros(()))

    def end(self):
        self.total().backward()

    def end_twice(self):
        grads = self.lib.autograd.grad(self.total(), self.leaves, create_graph=True, allow_unused=True)
        self.log.append([rounded(g) for g in grads])
        sum((g * g).sum() for g in grads if g is not None).backward()


def close(a, b):
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return a == pytest.approx(b, rel=5e-3, abs=5e-3, nan_ok=True)
    return a == b


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_programs_do_the_same(start):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(start, start + 50):
            expected, found = Program(torch, seed).run(), Program(gradpack, seed).run()
            for i, (theirs, ours) in enumerate(zip(expected, found, strict=False)):
                assert close(theirs, ours), f"seed {seed}, entry {i}: torch {theirs}, here {ours}"
            assert len(expected) == len(found), f"seed {seed}"
