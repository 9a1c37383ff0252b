"""`gradpack run`: programs run as Python runs them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import gradpack

HERE = {"PYTHONPATH": os.path.dirname(os.path.dirname(gradpack.__file__))}  # from whatever folder


def command(*words, **options):
    options["env"] = {**os.environ, **HERE, **options.get("env", {})}
    done = subprocess.run(
        [sys.executable, "-m", "gradpack", "run", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def script(tmp_path):
    def make(text, name="train.py"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return make


def test_a_script_is_main(script, tmp_path):
    path = script(
        '"""What it does."""\n'
        "import pickle, sys, torch\n"
        "from beside import value\n"
        "class Mine:\n"
        "    pass\n"
        "assert type(pickle.loads(pickle.dumps(Mine()))) is Mine\n"
        "print(__name__, __file__, __doc__, __package__, __spec__, sys.argv, sys.path[0], value, torch.__version__)\n"
    )
    script("value = 7\n", "beside.py")
    code, out, err = command("--force", path, "--lr", "3", "-m", "--", "x")
    assert (code, err) == (0, "")
    argv = [path, "--lr", "3", "-m", "--", "x"]
    assert out == f"__main__ {path} What it does. None None {argv} {tmp_path} 7 2.13.0+gradpack\n"


def test_it_trains(script):
    path = script(
        "import torch\n"
        "import torch.nn as nn\n"
        "from torch.utils.data import DataLoader, TensorDataset\n"
        "torch.manual_seed(0)\n"
        "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))\n"
        "    def forward(self, x):\n"
        "        return self.net(x)\n"
        "if __name__ == '__main__':\n"
        "    x = torch.randn(64, 2)\n"
        "    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16, shuffle=True)\n"
        "    model = torch.compile(Net().to(device))\n"
        "    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)\n"
        "    losses = []\n"
        "    for epoch in range(20):\n"
        "        for a, b in loader:\n"
        "            loss = nn.functional.mse_loss(model(a.to(device)), b.to(device))\n"
        "            optimizer.zero_grad(); loss.backward(); optimizer.step()\n"
        "            losses.append(loss.item())\n"
        "    print(losses[0] > 5 * losses[-1], loss)\n"
    )
    code, out, err = command("--force", path)
    assert (code, err) == (0, "") and out.startswith("True tensor(")
    assert command("--force", path)[1] == out  # as seeded


@pytest.mark.parametrize(
    ("end", "code", "said"), [("sys.exit(7)", 7, ""), ("sys.exit('bye')", 1, "bye\n"), ("", 0, "")]
)
def test_exit_codes(script, end, code, said):
    assert command("--force", script(f"import sys\n{end}\n")) == (code, "", said)


@pytest.mark.parametrize(
    "text",
    ["def f():\n    return 1 / 0\n\nf()\n", "x = (\n", "import nothing_of_that_name\n", "raise SystemError('no')\n"],
)
def test_tracebacks_are_those_of_python(script, text):
    path = script(text)
    plain = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert command("--force", path) == (1, "", plain.stderr)


def test_what_is_missing_is_named_with_its_line(script):
    path = script("import torch\n\nprint(torch.ones(1))\ntorch.nonsense(1)\n")
    code, out, err = command("--force", path)
    assert code == 1 and out == "tensor([1.])\n"
    assert err.splitlines()[1].endswith('train.py", line 4, in <module>')
    assert err.splitlines()[-1].startswith(f"AttributeError: gradpack has no torch.nonsense (line 4 of {path})")


def test_modules_and_packages(tmp_path):
    package = tmp_path / "work"
    package.mkdir()
    (package / "__init__.py").write_text("import torch\nplace = torch.__version__\n")
    (package / "__main__.py").write_text("import sys\nfrom . import place\nprint(__package__, sys.argv, place)\n")
    (package / "part.py").write_text("print(__name__, __spec__.name, __package__)\n")
    code, out, err = command("--force", "-m", "work", "a", "--b", cwd=tmp_path)
    argv = [str(package / "__main__.py"), "a", "--b"]
    assert (code, out, err) == (0, f"work {argv} 2.13.0+gradpack\n", "")
    assert command("--force", "-mwork.part", cwd=tmp_path)[1] == "__main__ work.part work\n"
    (package / "__main__.py").write_text("import work_beside\nprint(work_beside.__name__, __package__ == '')\n")
    (package / "work_beside.py").write_text("")
    assert command("--force", "work", cwd=tmp_path)[1] == "work_beside True\n"


def test_text_and_standard_input():
    code, out, _ = command("--force", "-c", "import sys, torch; print(sys.argv, torch.ones(2).shape)", "a", "-b")
    assert (code, out) == (0, "['-c', 'a', '-b'] torch.Size([2])\n")
    assert command("--force", "-", "a", input="import sys; print(sys.argv)")[1] == "['-', 'a']\n"


def test_what_cannot_be_run(tmp_path):
    assert command("nothere.py") == (2, "", "gradpack: run: there is no file nothere.py\n")
    code, _, err = command("--force", "-m", "nothere.deep")
    assert code == 1 and err == "gradpack: run: there is no module named nothere.deep\n"
    assert command("--force", str(tmp_path))[0] == 1
    code, _, err = command()
    assert code == 2 and "name a SCRIPT, or a module with -m, or a text with -c" in err
    assert command("--help")[0] == 0


def test_a_torch_that_is_installed_is_taken_unless_forced(script, tmp_path):
    script("__version__ = 'of the user'\n", "torch.py")
    path = script("import torch; print(torch.__version__)\n")
    code, out, err = command(path)
    assert (code, out) == (0, "of the user\n")
    assert err == "gradpack run: torch is installed, and the program gets it; --force runs it on gradpack\n"
    assert command("--force", path) == (0, "2.13.0+gradpack\n", "")


def test_without_torch_nothing_need_be_forced(script, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u, sys\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'torch' else real(name, package)\n"
    )
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path), HERE["PYTHONPATH"]])}
    path = script("import torch; print(torch.__version__)\n")
    assert command(path, env=environment) == (0, "2.13.0+gradpack\n", "")


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
def test_ctrl_c(script, start):
    path = script("import time\nprint('on', flush=True)\ntime.sleep(60)\n")
    running = start([sys.executable, "-m", "gradpack", "run", "--force", path], text=True)
    assert running.stdout.readline() == "on\n"
    time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert running.returncode == -signal.SIGINT
    assert err.splitlines()[-1] == "KeyboardInterrupt" and "gradpack" not in err
