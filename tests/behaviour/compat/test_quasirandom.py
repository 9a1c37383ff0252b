"""Sobol's sequences: the numbers are those that torch 2.13 gives."""

import importlib

import pytest

pytest.importorskip("scipy")


@pytest.fixture
def engine(torch):
    return importlib.import_module(f"{torch.__name__}.quasirandom").SobolEngine


def test_points_come_one_after_the_other(torch, engine):
    points = engine(3).draw(5)
    assert points.dtype is torch.float32 and points.tolist() == [
        [0.0, 0.0, 0.0],
        [0.5, 0.5, 0.5],
        [0.75, 0.25, 0.25],
        [0.25, 0.75, 0.75],
        [0.375, 0.375, 0.625],
    ]
    one = engine(3)
    parts = [one.draw(1), one.draw(), one.draw(0), one.draw(3, dtype=torch.float64).float()]
    assert torch.equal(torch.cat(parts), points) and one.num_generated == 5
    assert one.reset().num_generated == 0 and torch.equal(one.draw(5), points)


def test_scrambled_points_of_a_seed_are_those_of_torch(torch, engine):
    scrambled = engine(2, scramble=True, seed=5)
    expected = [[0.4803, 0.1173], [0.9498, 0.7430], [0.6404, 0.3272]]
    assert torch.allclose(scrambled.draw(3), torch.tensor(expected), atol=1e-4)
    assert scrambled.shift.tolist() == (scrambled.reset().quasi).tolist()
    assert torch.equal(engine(2, True, 2**33 + 1).draw(4), engine(2, True, 1).draw(4))


def test_points_without_a_seed_follow_the_default_generator(torch, engine):
    torch.manual_seed(3)
    first = engine(4, scramble=True).draw(8)
    assert not torch.equal(engine(4, scramble=True).draw(8), first)
    torch.manual_seed(3)
    assert torch.equal(engine(4, scramble=True).draw(8), first) and ((first >= 0) & (first < 1)).all()
    for column in first.T:  # each eighth of the interval has one of eight points
        assert sorted((column * 8).long().tolist()) == list(range(8))


@pytest.mark.parametrize("left_out", [1, 2, 9, 300])
@pytest.mark.parametrize("begun", [0, 1, 6])
def test_points_that_are_left_out(torch, engine, left_out, begun):
    one, other = engine(5, True, 2), engine(5, True, 2)
    if begun:
        one.draw(begun), other.draw(begun)
    other.draw(left_out)
    assert torch.equal(one.fast_forward(left_out).draw(3), other.draw(3)) and one.num_generated == other.num_generated


def test_powers_of_two(torch, engine):
    one = engine(2)
    assert one.draw_base2(2).shape == (4, 2) and one.draw_base2(2).shape == (4, 2)
    with pytest.raises(ValueError, match=r"then: n=8\+2\*\*2=12"):
        one.draw_base2(2)
    out = torch.empty(0)
    assert one.draw_base2(3, out=out) is out and out.shape == (8, 2)


def test_names_and_refusals(torch, engine):
    assert repr(engine(2)) == "SobolEngine(dimension=2)"
    assert repr(engine(2, True, 7)) == "SobolEngine(dimension=2, scramble=True, seed=7)"
    assert (engine.MAXBIT, engine.MAXDIM) == (30, 21201)
    for dimension in (0, 21202):
        with pytest.raises(ValueError, match=r"Supported range of dimensionality for SobolEngine is \[1, 21201\]"):
            engine(dimension)
    with pytest.raises(RuntimeError, match="negative dimension"):
        engine(2).draw(0)
