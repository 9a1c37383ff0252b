"""The gates for saved tensor hooks: all hold here, and each notices what it is there to notice."""

import json
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

import gradpack
from gradpack.testing import hooks
from gradpack.testing.hooks.__main__ import main


@pytest.mark.parametrize("gate", hooks.GATES, ids=[gate.name for gate in hooks.GATES])
def test_gradpack_holds(gate):
    (outcome,) = hooks.run(gradpack, [gate])
    assert outcome.holds, outcome.reason


def test_gates_have_names_of_their_own_and_claims():
    assert len({gate.name for gate in hooks.GATES}) == len(hooks.GATES) >= 24
    assert all(gate.claim.endswith(".") and len(gate.claim) < 130 for gate in hooks.GATES)


def like_gradpack(**graph):
    """gradpack with something else in place of names of `autograd.graph`."""
    own = {name: getattr(gradpack.autograd.graph, name) for name in dir(gradpack.autograd.graph)} | graph
    autograd = {name: getattr(gradpack.autograd, name) for name in gradpack.autograd.__all__}
    autograd["graph"] = SimpleNamespace(**own)

    class Module:
        __name__ = "gradpack"

        def __getattr__(self, name):
            return getattr(gradpack, name)

    module = Module()
    module.autograd = SimpleNamespace(**autograd)
    return module


def failing(**graph):
    return {outcome.gate.name for outcome in hooks.run(like_gradpack(**graph)) if not outcome.holds}


def test_without_changes_the_likeness_holds_everything():
    assert failing() == set()


def test_hooks_that_are_never_called_are_noticed():
    found = failing(saved_tensors_hooks=lambda *args, **kwargs: nullcontext())
    assert found >= {
        "nested", "composed", "bypass", "forbid", "threads-apart", "threads-with-a-context", "tasks", "write-by-pack",
        "mutation-mode-inside-hooks", "parameters-under-views", "custom-function", "backward-twice", "unused-branch",
        "error-in-pack-is-placed", "error-in-unpack-is-placed", "errors-leave-no-trace", "wrong-shape", "wrong-dtype",
        "wrong-type", "write-after-copying-pack", "write-after-lossy-pack", "attributes",
    }  # fmt: skip


def test_hooks_that_take_the_last_packed_for_what_is_asked_are_noticed():
    real = gradpack.autograd.graph.saved_tensors_hooks

    def last_first(pack, unpack=None, **options):
        stack = []
        return real(lambda t: stack.append(pack(t)), lambda _: unpack(stack.pop()), **options)

    assert failing(saved_tensors_hooks=last_first) >= {"two-graphs", "out-of-order", "backward-twice"}


def test_hooks_that_forget_are_noticed():
    real = gradpack.autograd.graph.saved_tensors_hooks

    def zeros(pack, unpack, **options):
        return real(pack, lambda packed: unpack(packed) * 0, **options)

    assert failing(saved_tensors_hooks=zeros) >= {
        "memory-used-again", "double-backward-inside", "double-backward-after", "shared-memory", "unused-branch",
        "composed",
    }  # fmt: skip


def test_a_save_on_cpu_that_forgets_the_layout_is_noticed():
    real = gradpack.autograd.graph.saved_tensors_hooks
    flat = failing(save_on_cpu=lambda: real(lambda t: t.tolist(), gradpack.core))
    assert flat == {"layouts"}


def test_a_save_on_cpu_that_holds_what_it_packs_leaks_nothing():
    """It gets an alias of a result, without the node."""
    real = gradpack.autograd.graph.saved_tensors_hooks
    assert failing(save_on_cpu=lambda: real(lambda t: [t], lambda packed: packed[0])) == set()


def test_a_checkpoint_that_draws_anew_is_noticed():
    module = like_gradpack()
    real = gradpack.utils.checkpoint.checkpoint
    anew = SimpleNamespace(checkpoint=lambda *args, **options: real(*args, **options, preserve_rng_state=False))
    module.utils = SimpleNamespace(checkpoint=anew)
    assert [outcome.gate.name for outcome in hooks.run(module) if not outcome.holds] == ["dropout-again"]


def test_a_gate_that_does_not_end_is_given_up():
    def wait(torch):
        while not stop:
            pass

    stop = []
    slow = hooks.Gate("slow", "Ends.", wait)
    (outcome,) = hooks.run(gradpack, [slow], patience=0.05)
    stop.append(True)
    assert (outcome.holds, outcome.reason) == (False, "did not end within 0.05 s")


# -- the command --


@pytest.fixture
def two_gates(monkeypatch):
    def fails(torch):
        raise ValueError("[bold]why[/bold]\nmore")

    gates = [hooks.GATES[0], hooks.Gate("bad", "Never holds.", fails)]
    monkeypatch.setattr("gradpack.testing.hooks.__main__.run", lambda module: hooks.run(module, gates))


@pytest.mark.parametrize("rich", [True, False])
def test_a_line_for_each(two_gates, capsys, monkeypatch, rich):
    if not rich:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    assert main(["gradpack"]) == 1
    first, second, count = capsys.readouterr().out.strip().splitlines()
    assert first.split()[:2] == ["holds", "nested"] and first.endswith(hooks.GATES[0].claim)
    assert second.split(None, 2) == ["FAILS", "bad", "ValueError: [bold]why[/bold]"]
    assert count.startswith("gradpack ") and count.endswith("1 of 2 gates hold")


def test_json_and_exit_codes(two_gates, capsys, monkeypatch):
    assert main(["gradpack", "--json"]) == 1
    gates = json.loads(capsys.readouterr().out)["gates"]
    assert [(gate["gate"], gate["holds"]) for gate in gates] == [("nested", True), ("bad", False)]
    monkeypatch.setattr("gradpack.testing.hooks.__main__.run", lambda module: hooks.run(module, hooks.GATES[:1]))
    assert main(["gradpack"]) == 0
    assert main(["no.such.module"]) == 2
    assert "no.such" in capsys.readouterr().err
