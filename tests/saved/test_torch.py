"""`saved.torch` where there is no torch. What it does with one is tested in tests/oracle/test_saved_in_torch.py."""

import subprocess
import sys

import pytest

import gradpack
from gradpack import saved


@pytest.mark.parametrize("call", [lambda: saved.torch.hooks(saved.bf16()), lambda: saved.torch.meter()])
def test_without_torch_the_error_says_what_to_install(monkeypatch, call):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="pip install torch"):
        call()


def test_gradpack_under_the_name_of_torch_is_not_taken_for_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", gradpack)
    with pytest.raises(ImportError, match=r"needs an installed torch.*gradpack in this process"):
        saved.torch.hooks(saved.bf16())


def test_neither_torch_nor_the_adapter_is_loaded_before_it_is_asked_for():
    text = (
        "import sys; from gradpack import saved; print('gradpack.saved.torch' in sys.modules); saved.torch; "
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_what_is_no_policy_is_refused_first(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(TypeError, match="not function"):
        saved.torch.hooks(lambda tensor: tensor)
    with pytest.raises(ValueError, match=r"budget.*stores"):
        saved.torch.hooks(saved.budget("1 MiB"))
