"""Whoever calls torch's functions, classes and methods can call ours: parameters, their order, kinds and defaults."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

torch = pytest.importorskip("torch")

MODULES = (
    "autograd autograd.forward_ad autograd.functional autograd.graph autograd.profiler autograd.profiler_util "
    "autograd.grad_mode autograd.anomaly_mode distributions distributions.constraints distributions.transforms "
    "distributions.utils distributions.constraint_registry func optim optim.lr_scheduler optim.swa_utils profiler "
    "profiler.itt utils.checkpoint utils.data utils.flop_counter utils.hooks utils._pytree nn nn.functional nn.init "
    "nn.utils nn.utils.rnn nn.utils.parametrize nn.utils.parametrizations nn.utils.prune nn.utils.stateless "
    "nn.parameter nn.attention amp amp.autocast_mode amp.grad_scaler random masked overrides functional compiler "
    "serialization accelerator cpu"
).split()
# What has no sense here, by its last name: settings of a profiler written in C++, devices that are not there, module
# of the standard library, parts of recurrent networks that torch's own `forward` is made of, and nodes of its compiler.
WITHOUT = set(
    "profile.config Module.ipu Module.xpu Module.mtia PackedSequence.pin_memory PackedSequence.cuda "
    "KeyEntry.get _pytree.LeafSpec serialization.save nn.Container "
    "LSTM.get_expected_cell_size LSTM.check_forward_args LSTM.permute_hidden MultiheadAttention.merge_masks "
    "RNNBase.check_input RNNBase.get_expected_hidden_size RNNBase.check_hidden_size RNNBase.check_forward_args "
    "RNNBase.permute_hidden".split()
)


def pairs(module: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield the functions, classes and methods that torch defines, each with its path and ours; None for none."""
    theirs, ours = import_module(f"torch.{module}"), import_module(f"gradpack.{module}")
    for name in sorted(getattr(ours, "__all__", dir(ours))):
        value, own = getattr(theirs, name, None), getattr(ours, name)
        if name[0] == "_" or not (getattr(value, "__module__", None) or "").startswith("torch.") or not callable(value):
            continue
        yield f"{module}.{name}", value, own
        for part in vars(value) if isinstance(value, type) else ():
            if part[0] != "_" and inspect.isfunction(inspect.getattr_static(value, part)):
                yield f"{module}.{name}.{part}", getattr(value, part), getattr(own, part, None)


def default_of(parameter: inspect.Parameter) -> str:
    value = parameter.default
    if value is None or isinstance(value, torch.Generator):  # the default generator
        return "None"
    return re.sub(r" at 0x\w+", "", repr(value)).replace("gradpack", "torch").replace("torch.Size([])", "()")


def differences(theirs: inspect.Signature, ours: inspect.Signature) -> Iterator[str]:
    """Yield what calls that torch takes and ours does not, or takes in another way."""
    kinds, own = inspect.Parameter, ours.parameters
    positions = [n for n, p in own.items() if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    named = (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    required = [n for n, p in own.items() if p.default is p.empty and p.kind in named]
    for at, (name, p) in enumerate(theirs.parameters.items()):
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            if not own.keys() - theirs.parameters.keys() and name not in own:
                yield f"no {p}"
            continue
        found = own.get(name)
        if found is None:
            if p.kind is not p.POSITIONAL_ONLY or at >= len(positions):
                yield f"no {name}"
            continue
        if p.kind is p.POSITIONAL_OR_KEYWORD and (found.kind is not p.kind or positions[at] != name):
            yield f"{name} at another place"
        if p.default is not p.empty and default_of(found) != default_of(p):
            yield f"{name}={default_of(found)} and not {default_of(p)}"
    takes_any = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in theirs.parameters.values())
    yield from (f"needs {n}" for n in required if n not in theirs.parameters and not takes_any)


@pytest.mark.parametrize("module", MODULES)
def test_calls_of(module):
    wrong, seen = [], 0
    for path, theirs, ours in pairs(module):
        if ".".join(path.split(".")[-2:]) in WITHOUT:
            continue
        if ours is None:
            wrong.append(f"{path}: missing")
            continue
        try:
            expected, found = inspect.signature(theirs), inspect.signature(ours)
        except (TypeError, ValueError):  # written in C++
            continue
        seen += 1
        wrong += [f"{path}: {what}" for what in differences(expected, found)]
    assert not wrong
    assert seen
