"""`torch.func` with modules, and with the modes that are on around it."""

from __future__ import annotations

import operator

import pytest

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*torch.jit.*:DeprecationWarning",
    "ignore:There is a performance drop:UserWarning",  # torch's attention has no rule
    "ignore:Attempted to insert a get_attr Node:UserWarning",
)


@pytest.fixture
def x(torch):
    return torch.tensor([0.3, -1.2, 2.0])


@pytest.fixture(name="X")
def examples(torch):
    return torch.arange(1.0, 13.0).reshape(4, 3) / 5


class TestModules:
    @pytest.fixture
    def model(self, torch):
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))

    def test_functional_call(self, torch, func, model, x):
        given = {k: torch.ones_like(v) for k, v in model.named_parameters()}
        before = dict(model.named_parameters())
        found = func.functional_call(model, given, x)
        assert torch.allclose(found, (x.sum() + 1).tanh() * 4 + torch.ones(2))
        assert torch.equal(func.functional_call(model, (given, {}), (x,)), found)
        assert all(model.get_parameter(k) is p for k, p in before.items())
        assert torch.equal(func.functional_call(model, {}, kwargs={"input": x}), model(x))

    def test_functional_call_refuses(self, torch, func, model, x):
        given = dict(model.named_parameters())
        with pytest.raises(ValueError, match="appeared in multiple dictionaries"):
            func.functional_call(model, (given, given), x)
        with pytest.raises(ValueError, match="Expected parameter_and_buffer_dicts to be a dict"):
            func.functional_call(model, 3, x)
        with pytest.raises(ValueError, match="Expected all elements of parameter_and_buffer_dicts"):
            func.functional_call(model, [3], x)
        with pytest.raises(RuntimeError, match=r"Missing key\(s\): '0.bias', '2.bias', '2.weight'."):
            func.functional_call(model, {"0.weight": x}, x, strict=True)
        with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'foo'."):
            func.functional_call(model, {**given, "foo": x}, x, strict=True)

    @pytest.mark.parametrize("place", ["func", "nn.utils.stateless"])
    @pytest.mark.filterwarnings("ignore:.*functional_call. is deprecated:FutureWarning")
    def test_names_that_the_module_lacks(self, torch, place):
        class Shifted(torch.nn.Module):
            def forward(self, x):
                return x + self.shift

        call, model = operator.attrgetter(f"{place}.functional_call")(torch), Shifted()
        assert call(model, {"shift": torch.ones(2)}, torch.ones(2)).tolist() == [2.0, 2.0]
        assert not hasattr(model, "shift")
        with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'shift'"):
            call(model, {"shift": torch.ones(2)}, torch.ones(2), strict=True)

    def test_tied_weights(self, torch, func):
        class Tied(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a = torch.nn.Parameter(torch.ones(1))
                self.b = self.a

            def forward(self, x):
                return x * self.a + self.b

        tied, x = Tied(), torch.ones(1)
        assert func.functional_call(tied, {"a": torch.full((1,), 5.0)}, x) == 10
        assert func.functional_call(tied, {"a": torch.full((1,), 5.0)}, x, tie_weights=False) == 6
        with pytest.raises(ValueError, match="got multiple values for keys"):
            func.functional_call(tied, {"a": torch.ones(1), "b": torch.zeros(1)}, x)

    def test_buffers_that_the_module_writes(self, torch, func):
        norm = torch.nn.BatchNorm1d(2)
        given = {k: v.clone() for k, v in norm.named_buffers()}
        func.functional_call(norm, given, torch.arange(6.0).reshape(3, 2))
        assert given["num_batches_tracked"] == 1 and norm.num_batches_tracked == 0
        assert given["running_mean"].any() and not norm.running_mean.any()

    def test_ensembles(self, torch, func, X):
        models = [torch.nn.Linear(3, 2) for _ in range(5)]
        params, buffers = func.stack_module_state(models)
        assert params["weight"].shape == (5, 2, 3) and params["weight"].requires_grad and params["weight"].is_leaf
        found = func.vmap(lambda p, x: func.functional_call(models[0], (p, buffers), x), in_dims=(0, None))(params, X)
        assert torch.allclose(found, torch.stack([m(X) for m in models]), atol=1e-6)
        for given, text in (
            ([], "Expected at least one model, got 0."),
            ([models[0], torch.nn.Tanh()], "to be of the same class"),
            ([models[0], torch.nn.Linear(3, 2).eval()], "same training/eval mode"),
        ):
            with pytest.raises(RuntimeError, match=text):
                func.stack_module_state(given)

    def test_per_sample_gradients(self, torch, func, model, X):
        targets = torch.tensor([0, 1, 1, 0])
        params = {k: v.detach() for k, v in model.named_parameters()}

        def loss(params, x, t):
            out = func.functional_call(model, params, (x.unsqueeze(0),))
            return torch.nn.functional.cross_entropy(out, t.unsqueeze(0))

        found = func.vmap(func.grad(loss), in_dims=(None, 0, 0))(params, X, targets)
        for i in range(4):
            expected = func.grad(loss)(params, X[i], targets[i])
            for key, value in expected.items():
                assert torch.allclose(found[key][i], value, atol=1e-5)

    def test_per_sample_gradients_of_a_transformer(self, torch, func):
        torch.manual_seed(0)
        nn, F = torch.nn, torch.nn.functional

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed, self.norm = nn.Embedding(7, 8), nn.LayerNorm(8)
                self.qkv, self.head = nn.Linear(8, 24), nn.Linear(8, 7)

            def forward(self, tokens):
                x = self.embed(tokens)
                q, k, v = (p.reshape(*p.shape[:2], 2, 4).transpose(1, 2) for p in self.qkv(self.norm(x)).chunk(3, -1))
                mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
                return self.head(x + F.gelu(mixed.transpose(1, 2).reshape(x.shape)))

        model, tokens = Block(), torch.tensor([[1, 2, 3, 4], [0, 6, 6, 2], [5, 5, 1, 0]])
        params = {k: v.detach() for k, v in model.named_parameters()}

        def loss(params, row):
            logits = func.functional_call(model, params, (row[None, :-1],))
            return F.cross_entropy(logits.flatten(0, 1), row[1:])

        found = func.vmap(func.grad(loss), in_dims=(None, 0))(params, tokens)
        for i in range(3):
            for key, value in func.grad(loss)(params, tokens[i]).items():
                assert torch.allclose(found[key][i], value, atol=1e-5), key


class TestModesAround:
    def test_no_grad_around_vjp_alone(self, torch, func):
        x = torch.tensor(3.0, requires_grad=True)
        with torch.no_grad():
            out, pull = func.vjp(lambda x: x**2, x)
        (g,) = pull(torch.tensor(1.0))
        assert not out.requires_grad and g.requires_grad
        assert torch.autograd.grad(g, x)[0] == 2

    def test_no_grad_around_both(self, torch, func):
        x = torch.tensor(3.0, requires_grad=True)
        with torch.no_grad():
            out, pull = func.vjp(lambda x: x**2, x)
            (g,) = pull(torch.tensor(1.0))
            inner = func.grad(lambda x: x**3)(x)
        assert g == 6 and inner == 27 and not (out.requires_grad or g.requires_grad or inner.requires_grad)

    def test_inference_mode(self, torch, func):
        with torch.inference_mode():
            x = torch.tensor([1.0, 2.0])
            assert func.jvp(lambda x: x**2, (x,), (torch.ones(2),))[1].tolist() == [2.0, 4.0]
            assert func.jacfwd(lambda x: x.sum() ** 2)(x).tolist() == [6.0, 6.0]
            assert func.grad(lambda x: (x**2).sum())(x).tolist() == [2.0, 4.0]
