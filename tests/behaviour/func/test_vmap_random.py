"""Random numbers under `vmap`: refused, the same for all examples, or different ones, for every way to draw."""

from __future__ import annotations

import itertools

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")

SIZE = 3
REFUSED = "called random operation while in randomness error mode"
SAME_OF_EXAMPLES = "does not currently support same randomness with a batched tensor input"
NOT_BATCHED = "Cannot ask for different inplace randomness on an unbatched tensor"


def all_equal(torch, rows):
    return all(torch.equal(rows[0], row) for row in rows[1:])


FACTORIES = {
    "randn": lambda torch: torch.randn(20),
    "rand": lambda torch: torch.rand(20),
    "randint": lambda torch: torch.randint(1000, (20,)),
    "randint of bounds": lambda torch: torch.randint(5, 1000, (20,)),
    "randperm": lambda torch: torch.randperm(20),
    "normal": lambda torch: torch.normal(0.0, 1.0, (20,)),
}
# Of a tensor of shape (5, 20).
FUNCTIONS = {
    "dropout": lambda torch, x: torch.dropout(x, 0.5, True),
    "functional dropout": lambda torch, x: torch.nn.functional.dropout(x, 0.5),
    "alpha_dropout": lambda torch, x: torch.nn.functional.alpha_dropout(x, 0.5, True),
    "dropout1d": lambda torch, x: torch.nn.functional.dropout1d(x.t(), 0.5),
    "feature_alpha_dropout": lambda torch, x: torch.nn.functional.feature_alpha_dropout(x.t(), 0.5, True),
    "randn_like": lambda torch, x: torch.randn_like(x),
    "rand_like": lambda torch, x: torch.rand_like(x),
    "randint_like": lambda torch, x: torch.randint_like(x, 1000),
}
# Whose distribution depends on the tensor.
DISTRIBUTIONS = {
    "bernoulli": lambda torch, x: torch.bernoulli(x * 0 + 0.5),
    "bernoulli of p": lambda torch, x: torch.bernoulli(x, 0.5),
    "poisson": lambda torch, x: torch.poisson(x + 30),
    "normal of two": lambda torch, x: torch.normal(x, x.abs() + 1),
    "normal of means": lambda torch, x: torch.normal(x, 1.0),
    "normal of deviations": lambda torch, x: torch.normal(0.0, x.abs() + 1),
    "multinomial": lambda torch, x: torch.multinomial(x.abs() + 1, 15, replacement=True),
    "binomial": lambda torch, x: torch.binomial(x * 0 + 1000, x * 0 + 0.5),
    "gamma": lambda torch, x: torch._standard_gamma(x.abs() + 1),
}
FILLS = {
    "bernoulli_": (0.5,),
    "cauchy_": (),
    "exponential_": (),
    "geometric_": (0.01,),
    "log_normal_": (),
    "normal_": (),
    "random_": (),
    "uniform_": (),
}


@pytest.fixture(name="X")
def examples(torch):
    """The same example three times."""
    return (torch.arange(100.0) / 7).reshape(5, 20).expand(SIZE, 5, 20).clone()


def check(torch, randomness, draw, size=SIZE):
    if randomness == "error":
        with pytest.raises(RuntimeError, match=REFUSED):
            draw()
        return
    torch.manual_seed(0)
    found = draw()
    assert found.shape[0] == size
    assert all_equal(torch, found) == (randomness == "same")


@pytest.mark.parametrize("randomness", ["error", "same", "different"])
class TestEveryWayToDraw:
    @pytest.mark.parametrize("name", FACTORIES)
    def test_from_nothing(self, torch, name, randomness):
        draw = FACTORIES[name]
        check(torch, randomness, lambda: torch.vmap(lambda x: draw(torch), randomness=randomness)(torch.ones(SIZE)))
        check(torch, randomness, lambda: torch.vmap(lambda x: draw(torch) + x, randomness=randomness)(torch.ones(SIZE)))

    @pytest.mark.parametrize("name", FUNCTIONS)
    @pytest.mark.parametrize("batched", [True, False])
    def test_like_a_tensor(self, torch, X, name, randomness, batched):
        draw = FUNCTIONS[name]

        def call():
            return torch.vmap(lambda x: draw(torch, x if batched else X[0]), randomness=randomness)(X)

        check(torch, randomness, call)

    @pytest.mark.parametrize("name", DISTRIBUTIONS)
    @pytest.mark.parametrize("batched", [True, False])
    def test_distributions(self, torch, X, name, randomness, batched):
        draw = DISTRIBUTIONS[name]

        def call():
            return torch.vmap(lambda x: draw(torch, x if batched else X[0]), randomness=randomness)(X)

        if batched and randomness == "same":
            with pytest.raises(RuntimeError, match=SAME_OF_EXAMPLES):
                call()
        else:
            check(torch, randomness, call)

    @pytest.mark.parametrize("name", FILLS)
    def test_fills(self, torch, X, name, randomness):
        def fill(x):
            return getattr(x, name)(*FILLS[name])

        check(torch, randomness, lambda: torch.vmap(lambda x: fill(x.clone()), randomness=randomness)(X))

    @pytest.mark.parametrize("name", FILLS)
    def test_fills_of_what_is_the_same_for_all(self, torch, X, name, randomness):
        def call():
            made = torch.zeros(20)
            return torch.vmap(lambda x: getattr(made, name)(*FILLS[name]) + 0 * x.sum(), randomness=randomness)(X)

        if randomness == "different":
            with pytest.raises(RuntimeError, match=NOT_BATCHED):
                call()
        else:
            check(torch, randomness, call)

    def test_nothing_is_drawn(self, torch, X, randomness):
        f = torch.nn.functional
        for draw in (lambda x: f.dropout(x, 0.5, False), lambda x: f.alpha_dropout(x, 0.5, False)):
            assert torch.equal(torch.vmap(draw, randomness=randomness)(X), X)

    def test_jacfwd(self, torch, randomness):
        from importlib import import_module

        func = import_module(f"{torch.__name__}.func")

        def diagonal():
            return func.jacfwd(lambda x: x * torch.randn(1), randomness=randomness)(torch.ones(3)).diagonal()

        check(torch, randomness, diagonal)


class TestNested:
    @pytest.mark.parametrize(("outer", "inner"), [*itertools.product(["error", "same", "different"], repeat=2)])
    @pytest.mark.parametrize("of_examples", [True, False])
    def test_levels(self, torch, outer, inner, of_examples):
        def draw(x):
            return torch.nn.functional.dropout(torch.ones(40) * x) if of_examples else torch.randn(40)

        def call():
            return torch.vmap(torch.vmap(draw, randomness=inner), randomness=outer)(torch.ones(2, 2))

        if "error" in (outer, inner):
            with pytest.raises(RuntimeError, match=REFUSED):
                call()
            return
        torch.manual_seed(0)
        found = call()
        assert found.shape == (2, 2, 40)
        assert torch.equal(found[0, 0], found[0, 1]) == (inner == "same")
        assert torch.equal(found[0], found[1]) == (outer == "same")


class TestSeeds:
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize("name", ["randn", "rand"])
    def test_different_numbers_are_those_of_one_draw(self, torch, name, dtype):
        draw, d = getattr(torch, name), getattr(torch, dtype)
        torch.manual_seed(3)
        found = torch.vmap(lambda x: draw(5, dtype=d), randomness="different")(torch.ones(SIZE))
        torch.manual_seed(3)
        assert torch.equal(found, draw(SIZE, 5, dtype=d))

    def test_of_a_tensor(self, torch):
        for f in (
            lambda x: torch.bernoulli(x * 0.5),
            lambda x: torch.nn.functional.dropout(x),
            lambda x: torch.poisson(x),
            lambda x: x.clone().normal_(),
            lambda x: x.clone().exponential_(),
            lambda x: torch.randn_like(x),
        ):
            torch.manual_seed(3)
            found = torch.vmap(f, randomness="different")(torch.ones(SIZE, 8))
            torch.manual_seed(3)
            assert torch.equal(found, f(torch.ones(SIZE, 8)))

    @pytest.mark.parametrize("randomness", ["same", "different"])
    def test_generators(self, torch, randomness):
        g = torch.Generator()
        g.manual_seed(5)
        found = torch.vmap(lambda x: torch.randn(4, generator=g), randomness=randomness)(torch.ones(SIZE))
        g.manual_seed(5)
        shape = (4,) if randomness == "same" else (SIZE, 4)
        assert torch.equal(found, torch.randn(shape, generator=g).expand(SIZE, 4))

    @pytest.mark.parametrize("randomness", ["same", "different"])
    def test_chunks(self, torch, randomness):
        torch.manual_seed(0)
        found = torch.vmap(lambda x: torch.randn(9) + x, randomness=randomness, chunk_size=2)(torch.zeros(5))
        assert all_equal(torch, found) == (randomness == "same")

    def test_nested_levels_draw_in_the_order_of_the_outermost(self, torch):
        def nested(inner, outer):
            f = torch.vmap(lambda x: x + torch.randn(4), randomness=inner)
            torch.manual_seed(0)
            return torch.vmap(f, randomness=outer)(torch.zeros(2, 3))

        def plain(*shape):
            torch.manual_seed(0)
            return torch.randn(*shape).expand(2, 3, 4)

        assert torch.equal(nested("different", "different"), plain(2, 3, 4))
        assert torch.equal(nested("same", "different"), plain(2, 1, 4))
        assert torch.equal(nested("different", "same"), plain(3, 4))
        assert torch.equal(nested("same", "same"), plain(4))

    def test_orders_of_integers_for_each_example(self, torch):
        found = torch.vmap(torch.vmap(lambda x: torch.randperm(5), randomness="different"), randomness="different")(
            torch.zeros(2, 3)
        )
        assert torch.equal(found.sort(-1).values, torch.arange(5).expand(2, 3, 5))


class TestRefused:
    @pytest.mark.parametrize("randomness", ["same", "different"])
    def test_out(self, torch, randomness):
        out = torch.zeros(3)
        for f in (lambda x: torch.randn(3, out=out), lambda x: torch.normal(x, x, out=x)):
            with pytest.raises(RuntimeError, match="calling out variants of random operations"):
                torch.vmap(f, randomness=randomness)(torch.ones(2, 3))
        assert torch.equal(out, torch.zeros(3))

    def test_probabilities_of_each_example_into_one_tensor(self, torch):
        target = torch.zeros(3)
        with pytest.raises(RuntimeError, match="vmap: inplace bernoulli"):
            torch.vmap(target.bernoulli_, randomness="different")(torch.ones(2, 3))
        assert torch.equal(target, torch.zeros(3))


class TestColumnsOfJacobians:
    """The examples of `jacfwd` differ in their tangents only: what is drawn may depend on its arguments."""

    @pytest.mark.parametrize("randomness", ["same", "different"])
    @pytest.mark.parametrize("name", ["bernoulli", "poisson"])
    def test_what_depends_on_the_argument(self, torch, name, randomness):
        draw = getattr(torch, name)
        found = torch.func.jacfwd(lambda x: draw(x) * x, randomness=randomness)(torch.full((2,), 0.5))
        assert found.shape == (2, 2) and found[0, 1] == found[1, 0] == 0

    def test_the_same_numbers(self, torch):
        x = torch.full((4,), 0.5)
        torch.manual_seed(1)
        found = torch.func.jacfwd(lambda x: torch.bernoulli(x) * x, randomness="same")(x)
        torch.manual_seed(1)
        assert torch.equal(found, torch.bernoulli(x).diag())

    def test_refused_by_default(self, torch):
        with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
            torch.func.jacfwd(torch.bernoulli)(torch.full((2,), 0.5))


@pytest.mark.parametrize("randomness", ["error", "same"])
def test_a_generator_changes_nothing_in_what_is_refused(torch, randomness):
    f = torch.vmap(lambda x: torch.normal(0.0, x, generator=torch.Generator()), randomness=randomness)
    with pytest.raises(RuntimeError, match="random"):
        f(torch.ones(3))
