import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gradpack as torch
from gradpack.examples import gpt

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "gpt.py"


def model(**sizes):
    torch.manual_seed(0)
    return gpt.GPT(**{"vocabulary": 11, "context": 6, "width": 8, "heads": 2, "layers": 2, **sizes})


def batch(rows=3, length=6):
    torch.manual_seed(1)
    return torch.randint(11, (rows, length)), torch.randint(11, (rows, length))


def test_the_file_is_short_and_there_is_only_one():
    text = FILE.read_text()
    assert len(text.splitlines()) < 160
    assert FILE.samefile(gpt.__file__)


def test_it_names_gradpack_in_one_import_only():
    tree = ast.parse(FILE.read_text())
    imported = [a for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    assert [a.asname for a in imported if a.name.startswith("gradpack")] == ["torch"]
    froms = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert froms <= {"__future__", "collections.abc", "pathlib"}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert "gradpack" not in names


def test_logits_have_one_row_for_each_character():
    tokens, _ = batch()
    assert model()(tokens).shape == (3, 6, 11)
    assert model()(tokens[:, :2]).shape == (3, 2, 11)


def test_a_prediction_depends_on_nothing_to_its_right():
    net = model()
    tokens, _ = batch()
    changed = tokens.clone()
    changed[:, 4] = (changed[:, 4] == 0).to(torch.int64)  # 1 for 0, else 0
    before, after = net(tokens), net(changed)
    assert torch.allclose(before[:, :4], after[:, :4], atol=1e-6)
    assert not torch.allclose(before[:, 4], after[:, 4], atol=1e-3)


def test_an_untrained_model_guesses():
    tokens, targets = batch(rows=50)
    with torch.no_grad():
        loss = gpt.loss_of(model(width=64)(tokens), targets).item()
    assert loss == pytest.approx(torch.log(torch.tensor(11.0)).item(), rel=0.25)


def test_every_parameter_gets_a_gradient():
    net = model()
    gpt.loss_of(net(batch()[0]), batch()[1]).backward()
    assert all(p.grad is not None and bool((p.grad != 0).any()) for p in net.parameters())


@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_recomputed_blocks_give_the_same_gradients(dropout):
    net = model(dropout=dropout)
    gradients = []
    for recompute in (False, True):
        net.recompute = recompute
        torch.manual_seed(5)
        net.zero_grad()
        gpt.loss_of(net(batch()[0]), batch()[1]).backward()
        gradients.append([p.grad.clone() for p in net.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


def test_dropout_acts_in_training_only():
    net = model(dropout=0.5)
    tokens, _ = batch()
    assert not torch.equal(net(tokens), net(tokens))
    net.eval()
    assert torch.equal(net(tokens), net(tokens))


def test_windows_are_of_the_text_and_targets_are_one_further():
    torch.manual_seed(0)
    data = torch.arange(20)
    seen = set()
    for _ in range(50):
        tokens, targets = gpt.draw(data, batch=4, context=5)
        assert tokens.shape == targets.shape == (4, 5)
        assert torch.equal(targets, tokens + 1)
        assert torch.equal(tokens - tokens[:, :1], torch.arange(5).expand(4, 5))
        seen.update(tokens[:, 0].tolist())
    assert seen == set(range(15))  # the last window ends with the last character


def test_encode_is_undone_by_the_letters():
    letters, data = gpt.encode("banana bread")
    assert letters == sorted(set("banana bread"))
    assert "".join(letters[i] for i in data.tolist()) == "banana bread"


def test_training_learns_a_rhyme_by_heart():
    letters, data = gpt.encode("eeny meeny miny moe, " * 30)
    torch.manual_seed(0)
    net = gpt.GPT(len(letters), context=16, width=32, heads=2, layers=1)
    losses = list(gpt.train(net, data, steps=80, batch=4, rate=1e-2))
    assert len(losses) == 80
    assert losses[0] > 1.5
    assert losses[-1] < 0.4
    net.eval()
    said = net.generate(data[None, :16], 26, temperature=0.2)[0].tolist()
    assert "".join(letters[i] for i in said) == ("eeny meeny miny moe, " * 2)[:42]


def test_sampling_follows_the_probabilities():
    net = model()
    with torch.no_grad():
        net.head.weight.zero_()
    torch.manual_seed(0)
    drawn = net.generate(torch.zeros(4000, 1, dtype=torch.int64), 1)[:, 1].tolist()
    counts = [drawn.count(i) for i in range(11)]  # all logits are equal
    assert sum((n - 4000 / 11) ** 2 / (4000 / 11) for n in counts) < 35  # chi-squared, 10 degrees: p < 0.0002
    assert all(parameter.grad is None for parameter in net.parameters())


def test_it_runs_as_a_program(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("eeny meeny miny moe, " * 30)
    command = [sys.executable, "-W", "error", str(FILE), str(text), "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("step    0  loss ")
    assert "step    1  loss " in done.stdout
