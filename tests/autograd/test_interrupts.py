"""Ctrl-C at any moment: modes, hooks and graphs are as they were, and the next step is right."""

import contextvars
import signal
import sys
import warnings

import numpy as np
import pytest
from tests.interrupts import at_each_moment

import gradpack as torch
import gradpack.autograd.forward_ad as fwAD
from gradpack import saved
from gradpack.autograd import forward_ad
from gradpack.base import modes
from gradpack.base.modes import MODE
from gradpack.nn import Module
from gradpack.nn._module import global_hooks
from gradpack.utils._python_dispatch import TorchDispatchMode
from gradpack.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
from gradpack.utils.flop_counter import FlopCounterMode

graph = torch.autograd.graph
X = np.linspace(-1, 1, 6, dtype=np.float32)
LINEAR = torch.nn.Linear(6, 6)


def leaf():
    return torch.tensor(X, requires_grad=True)


def loss(x):
    return (x.sin() * x.exp()).tanh().sum()


def keep(tensor):
    return tensor


def state():
    """All that could be left behind: context variables, and what holds for all threads."""
    found = {"NumPy": np.geterr(), "level": forward_ad._current_level, "call": Module.__call__}
    found["hooks of all modules"] = list(global_hooks.PRESENT)
    for variable, value in contextvars.copy_context().items():
        if variable is MODE:
            found.update({name: getattr(value, name) for name in modes._FIELDS})
        elif variable.name.startswith("gradpack") and value != contextvars.Context().run(variable.get):
            found[variable.name] = value
    return found


CLEAN = state()


def check(where):
    found = state()
    assert {n: v for n, v in found.items() if n not in CLEAN or v != CLEAN[n]} == {}, where
    assert found.keys() == CLEAN.keys()
    x = leaf()
    loss(x).backward()
    assert np.array_equal(x.grad.numpy(), EXACT), where


@pytest.fixture(autouse=True)
def clean():
    yield
    MODE.set(modes.Mode())


leaf_of_exact = leaf()
loss(leaf_of_exact).backward()
EXACT = leaf_of_exact.grad.numpy()


# --- blocks and what they decorate ---


def block(make):
    def step():
        with make():
            loss(leaf())

    return step


def generator():
    @torch.no_grad()
    def numbers():
        for _ in range(2):
            yield leaf() * 2

    list(numbers())


def hooks_within_hooks():
    with graph.saved_tensors_hooks(keep, keep), saved.bf16():
        with graph.saved_tensors_hooks(keep, keep, compose=True), graph.save_on_cpu():
            y = loss(leaf())
    y.backward()


def level():
    with fwAD.dual_level():
        fwAD.unpack_dual(loss(fwAD.make_dual(leaf(), torch.ones(6))))


def anomaly():
    with warnings.catch_warnings(action="ignore"), torch.autograd.detect_anomaly():
        loss(leaf()).backward()


class Watching(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


BLOCKS = {
    "no_grad": block(torch.no_grad),
    "enable_grad in no_grad": lambda: torch.no_grad()(block(torch.enable_grad))(),
    "inference_mode": block(torch.inference_mode),
    "decorated": torch.no_grad()(lambda: loss(leaf())),
    "decorated by set_grad_enabled": torch.set_grad_enabled(False)(lambda: loss(leaf())),
    "generator": generator,
    "autocast": block(lambda: torch.autocast("cpu")),
    "hooks": block(lambda: graph.saved_tensors_hooks(keep, keep)),
    "hooks within hooks": hooks_within_hooks,
    "no hooks": block(lambda: graph.disable_saved_tensors_hooks("no")),
    "mutation": block(graph.allow_mutation_on_saved_tensors),
    "device": block(lambda: torch.device("cpu")),
    "dual level": level,
    "anomaly": anomaly,
    "dispatch": block(Watching),
    "functions": block(torch.overrides.BaseTorchFunctionMode),
    "meter": block(saved.meter),
    "record": block(saved.record),
    "profiler": block(torch.autograd.profiler.profile),
    "operations": block(lambda: FlopCounterMode(display=False)),
    "random": block(torch.random.fork_rng),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_end(name):
    for where in at_each_moment(BLOCKS[name], most=50):
        check(where)


# --- transforms, and what runs backward inside ---

func, functional = torch.func, torch.autograd.functional


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 2 + 0 * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, t):
        return t * 2

    @staticmethod
    def vmap(info, in_dims, x):
        return Twice.apply(x), 0


def rows():
    return torch.tensor(np.stack([X, X]))


def twice_and_back():
    x = leaf()
    (g,) = torch.autograd.grad(loss(x), x, create_graph=True)
    g.sum().backward()


def hooks_of_all_kinds():
    x = leaf()
    y = x.exp()
    y.retain_grad()
    for handle in (x.register_hook(keep), y.grad_fn.register_prehook(lambda g: g)):
        with handle, graph.register_multi_grad_hook((x, y), lambda grads: None):
            loss(y).backward(retain_graph=True)


def other_weights():
    given = {"weight": LINEAR.weight * 2, "bias": torch.zeros(6)}
    func.functional_call(LINEAR, given, leaf())


def within_a_group():
    y = checkpoint(segment, leaf(), use_reentrant=False)
    with torch.utils.checkpoint.GraphExecGroup(), torch.utils.checkpoint.set_checkpoint_early_stop(False):
        y.backward()


def steps_of_optimizers():
    p = [torch.nn.Parameter(leaf().detach())]
    for make in (torch.optim.SGD, torch.optim.AdamW, torch.optim.Adagrad):
        loss(p[0]).backward()
        make(p, lr=0.1).step()


def rare_ways():
    x = leaf()
    torch.add(x.detach(), 1, out=torch.empty(6))
    (x.half() * x.double()).sum().backward()
    with torch.autocast("cpu"):
        x.detach().mul_(2)
    torch.linalg.svd(rows())
    torch.complex(x, x).exp().abs().sum().backward()
    (x.reshape(2, 3) @ torch.ones(3, 1)).to_sparse()


TRANSFORMS = {
    "grad": lambda: func.grad(loss)(leaf()),
    "vmap of grad": lambda: func.vmap(func.grad(loss))(rows()),
    "hessian": lambda: func.hessian(loss)(leaf()),
    "jvp": lambda: func.jvp(loss, (leaf(),), (torch.ones(6),)),
    "linearize": lambda: func.linearize(loss, leaf())[1](torch.ones(6)),
    "function": lambda: [
        loss(Twice.apply(leaf())).backward(),
        func.vmap(func.grad(lambda x: Twice.apply(x).sum()))(rows()),
    ],
    "tangents of a function": lambda: func.jvp(Twice.apply, (leaf(),), (torch.ones(6),)),
    "jacobian": lambda: functional.jacobian(torch.exp, leaf(), vectorize=True),
    "jacobian by rows": lambda: functional.jacobian(torch.exp, leaf()),
    "hvp": lambda: functional.hvp(loss, leaf(), torch.ones(6)),
    "twice": twice_and_back,
    "hooks": hooks_of_all_kinds,
    "other weights": other_weights,
    "group": within_a_group,
    "optimizers": steps_of_optimizers,
    "rare ways": rare_ways,
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_end(name):
    weights = dict(LINEAR.named_parameters())
    for where in at_each_moment(TRANSFORMS[name], most=50):
        check(where)
        assert dict(LINEAR.named_parameters()) == weights, where


# --- policies ---

POLICIES = {
    "keep": saved.keep,
    "bf16": saved.bf16,
    "recompute": lambda: saved.recompute(at_least=0),
    "budget": lambda: saved.budget("1 MiB"),
    "chain": lambda: saved.recompute(at_least=0) >> saved.quantize(8),
    "bypass": saved.bypass,
}


@pytest.mark.parametrize("name", POLICIES)
def test_policies_end(name):
    policy = POLICIES[name]()

    def step():
        x = torch.tensor(np.tile(X, 100), requires_grad=True)
        with policy:
            y = loss(x)
        y.backward()

    for where in at_each_moment(step, most=50):
        check(where)


# --- checkpoints ---


def segment(x):
    return loss(torch.nn.functional.dropout(LINEAR(x).sigmoid(), 0.5)) * x.sum()


def once(**options):
    def run():
        x = leaf()
        checkpoint(segment, x, **options).backward()

    return run


def nested():
    x = leaf()
    inner = lambda t: checkpoint(segment, t, use_reentrant=False)  # noqa: E731
    checkpoint(lambda t: inner(t * 2).exp(), x, use_reentrant=False).backward()


def hooked():
    with graph.save_on_cpu(), torch.autocast("cpu"):
        y = checkpoint(segment, leaf(), use_reentrant=False)
    y.backward()


def selective():
    return create_selective_checkpoint_contexts([torch.ops.aten.addmm.default])


CHECKPOINTS = {
    "plain": once(use_reentrant=False),
    "reentrant": once(use_reentrant=True),
    "to the end": once(use_reentrant=False, early_stop=False),
    "selective": once(use_reentrant=False, context_fn=selective),
    "debug": once(use_reentrant=False, debug=True),
    "nested": nested,
    "under hooks": hooked,
}


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_checkpoints_end(name):
    for where in at_each_moment(CHECKPOINTS[name], LINEAR.zero_grad, most=30 if name == "debug" else 80):
        check(where)


def test_conversions_end():
    whole, x = torch.tensor([1, 2]), torch.ones(2)
    for where in at_each_moment(lambda: whole + x):
        check(where)


# --- graphs ---


def test_a_graph_that_is_kept_goes_backward_again():
    x = leaf()
    y = checkpoint(segment, x, use_reentrant=False, preserve_rng_state=True) + loss(x)
    y.backward(retain_graph=True)
    exact = x.grad.numpy().copy()
    for where in at_each_moment(lambda: y.backward(retain_graph=True), most=100):
        x.grad = None
        y.backward(retain_graph=True)
        assert np.array_equal(x.grad.numpy(), exact), where


def refuses(y, words):
    """Goes backward, and says whether that was refused in these words."""
    try:
        y.backward()
    except RuntimeError as error:
        if words in str(error):
            return True
        raise
    return False


PLACES = {
    "all": lambda y, x: y.mul_(3),
    "with another": lambda y, x: y.add_(x),
    "copied": lambda y, x: y.copy_(x * 7),
    "a view": lambda y, x: y[1:3].mul_(3),
    "by index": lambda y, x: y.__setitem__(slice(1, 3), x[1:3] * 5),
    "by mask": lambda y, x: y.masked_fill_(x > 0, 0),
    "by places": lambda y, x: y.index_put_((torch.tensor([0, 1]),), x[:2] * 4),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_tensor_that_is_written_to_has_the_history_of_its_elements(name):
    made = []

    def prepare():
        x = torch.ones(4, requires_grad=True)
        made[:] = x * 2, x
        made[0].retain_grad()

    for where in at_each_moment(lambda: PLACES[name](*made), prepare, most=100):
        y, x = made
        value = y.detach().clone()
        if not refuses(y.sum(), "was being written to in place when the program was interrupted"):
            assert torch.equal(x.grad, value), where  # each element is a multiple of that of x
            assert torch.equal(y.grad, torch.ones(4)), where


WRITES = {
    "mul_": lambda w: w.mul_(3),
    "add_": lambda w: w.add_(torch.ones(4), alpha=2),
    "addcmul_": lambda w: w.addcmul_(w, w),
    "fill_": lambda w: w.fill_(5.0),
    "zero_": lambda w: w.zero_(),
    "copy_": lambda w: w.copy_(torch.zeros(4)),
    "normal_": lambda w: w.normal_(),
    "index": lambda w: w.__setitem__(0, 9.0),
    "mask": lambda w: w.masked_fill_(w > 0, 0.0),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_to_what_was_saved_is_noticed(name):
    made = []

    def prepare():
        w = torch.full((4,), 2.0)
        made[:] = w, (torch.ones(4, requires_grad=True) * w).sum()

    for where in at_each_moment(lambda: WRITES[name](made[0]), prepare, most=100):
        w, y = made
        if (w != 2).any():
            assert refuses(y, "modified by an inplace operation"), where


# --- by a timer, as often as the moments are many ---

RANDOM = """
import random, signal, sys, time
import gradpack as torch
from gradpack import saved
from gradpack.base.modes import MODE
from gradpack.utils.checkpoint import checkpoint

sys.unraisablehook = lambda error: None  # an interrupt while an object dies is lost
graph = torch.autograd.graph
inner = lambda t: checkpoint(lambda u: (u.sin() * u.exp()).tanh(), t, use_reentrant=False)

def step():
    x = torch.ones(8, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t), saved.bf16():
        y = checkpoint(lambda t: inner(t * 2).exp(), x, use_reentrant=False).sum()
    y.backward()
    with torch.no_grad():
        x.mul_(2)
    return x.grad

def interrupt(number, frame):
    global armed
    if armed:
        armed = False
        raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
armed, came = False, 0
exact, mode, once = step(), MODE.get(), 1.0
for _ in range(10):
    start = time.perf_counter()
    step()
    once = min(once, time.perf_counter() - start)
while came < 2000:
    try:
        armed = True
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 1.5 * once))
        for _ in range(4):
            step()
        armed = False
    except KeyboardInterrupt:
        came += 1
    assert MODE.get() is mode
    assert torch.equal(step(), exact)
print(came)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
def test_two_thousand_interrupts_at_random(start):
    process = start([sys.executable, "-c", RANDOM], text=True)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (0, "2000\n", "")
