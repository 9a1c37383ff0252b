"""Public modules whose files are elsewhere, or that have none."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType

import pytest
from tools.stubs.modules import files

import gradpack
from gradpack.compat.facades import FACADES
from gradpack.compat.public_modules import MODULES


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_known_by_its_public_name(name):
    module = import_module(f"gradpack.{name}")
    assert module is import_module(f"gradpack.{MODULES[name]}") and module.__name__ == f"gradpack.{name}"
    assert find_spec(f"gradpack.{name}") is not None
    for value in vars(module).values():
        if isinstance(value, type | FunctionType) and value.__module__ == module.__name__ and value.__name__[0] != "<":
            assert value.__name__ not in vars(module) or pickle.loads(pickle.dumps(value)) is value


@pytest.mark.parametrize("name", FACADES)
def test_a_facade_answers(name):
    module = import_module(f"gradpack.{name}")
    assert module.__name__ == f"gradpack.{name}" and module.__doc__ == FACADES[name].doc
    for function, answer in FACADES[name].answers.items():
        assert getattr(module, function.partition("(")[0])() is answer
    for function, error in FACADES[name].errors.items():
        with pytest.raises(type(error), match=str(error)):
            getattr(module, function.partition("(")[0])()


def test_the_statement_imports_them_too():
    text = "import gradpack.library, gradpack.backends.cudnn, gradpack.cpu.amp; from gradpack.xpu import is_available"
    subprocess.run([sys.executable, "-W", "error", "-c", text], check=True, timeout=60)


def test_stubs_are_of_such_modules():
    root = Path(gradpack.__file__).parent
    stubs = {path.relative_to(root) for path in root.rglob("*.pyi")} - {Path(name) for name in files()}
    assert {".".join(path.with_suffix("").parts) for path in stubs} <= set(MODULES)


def test_what_is_in_no_table_is_not_found():
    assert find_spec("gradpack.nonsense") is None
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'gradpack\.backends\.nonsense'"):
        import_module("gradpack.backends.nonsense")
