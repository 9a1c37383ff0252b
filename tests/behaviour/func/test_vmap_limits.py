"""What `vmap` refuses, in which words, and what it does at the edges of its rules."""

from __future__ import annotations

import copy
import functools

import pytest

pytestmark = pytest.mark.filterwarnings(
    "ignore:There is a performance drop:UserWarning", "ignore:index_reduce.. is in beta:UserWarning"
)


@pytest.fixture(name="X")
def examples(torch):
    return (torch.arange(6.0) + 1).reshape(2, 3)


# -- arguments and results --

BAD_ARGUMENTS = {
    "a list": ([0, 0], "expected `in_dims` to be int or a .*tuple.*list"),
    "a dict": ({"a": 0}, "expected `in_dims` to be int or a"),
    "a string": ("lol", "expected `in_dims` to be int or a"),
    "None": (None, "expected `in_dims` to be int or a"),
    "nothing to map": ((None, None), "Expected at least one Tensor to vmap over"),
    "a float": ((0, 0.0), r"Got in_dim=0.0 for an input but in_dim must be either an integer dimension or None"),
    "too few": ((0,), "in_dims is not compatible with the structure of `inputs`"),
    "too many": ((0, 0, 0), "in_dims is not compatible with the structure of `inputs`"),
    "too large": ((0, 3), r"Got in_dim=3 .* dimensionality 2 so expected in_dim to satisfy -2 <= in_dim < 2"),
    "too small": ((-3, 0), r"Got in_dim=-3 .* dimensionality 2 so expected in_dim to satisfy -2 <= in_dim < 2"),
    "nested": (([0], 0), "in_dims is not compatible with the structure of `inputs`"),
}
BAD_RESULTS = {
    "a string": ("lol", lambda x: x, "`out_dims` must be an int, None or a python collection of ints"),
    "a float": (0.5, lambda x: x, "`out_dims` must be an int, None or a python collection of ints"),
    "a string in a tuple": (("a",), lambda x: x, "`out_dims` must be an int, None or a python collection of ints"),
    "two for one": ((0, 0), lambda x: x, "out_dims is not compatible with the structure of `outputs`"),
    "three for two": ((0, 0, 0), lambda x: (x, x), "out_dims is not compatible with the structure of `outputs`"),
    "one for two": ((0,), lambda x: (x, x), "out_dims is not compatible with the structure of `outputs`"),
    "a list": ([0], lambda x: x, "out_dims is not compatible with the structure of `outputs`"),
    "other keys": ({"a": 0, "c": 1}, lambda x: {"a": x, "b": x}, "out_dims is not compatible with the structure"),
    "None for examples": (None, lambda x: x, "can not return a BatchedTensor when out_dim is None"),
    "None for one of them": ((0, None), lambda x: (x, x), "can not return a BatchedTensor when out_dim is None"),
}


class TestArguments:
    @pytest.mark.parametrize("name", BAD_ARGUMENTS)
    def test_in_dims(self, torch, X, name):
        dims, text = BAD_ARGUMENTS[name]
        with pytest.raises(ValueError, match=text):
            torch.vmap(torch.mul, in_dims=dims)(X, X)

    @pytest.mark.parametrize("name", BAD_RESULTS)
    def test_out_dims(self, torch, X, name):
        dims, f, text = BAD_RESULTS[name]
        with pytest.raises(ValueError, match=text):
            torch.vmap(f, out_dims=dims)(X)

    @pytest.mark.parametrize("dim", [-4, 2, 3])
    def test_out_dims_that_do_not_exist(self, torch, X, dim):
        with pytest.raises(IndexError, match="Dimension out of range"):
            torch.vmap(lambda x: x, out_dims=dim)(X)

    @pytest.mark.parametrize("result", [3.14, None, "text"])
    def test_results_that_are_no_tensors(self, torch, X, result):
        for f in (lambda x: result, lambda x: (x, result), lambda x: {"a": result}):
            with pytest.raises(ValueError, match="must only return Tensors, got type"):
                torch.vmap(f)(X)
        assert torch.vmap(lambda x: (x, result), out_dims=(0, None))(X)[1] == result

    def test_no_results(self, torch, X):
        assert torch.vmap(lambda x: ())(X) == () and torch.vmap(lambda x: [])(X) == []

    def test_names(self, torch):
        for f, name in ((lambda x: x, "<lambda>"), (functools.partial(torch.mul, 2), r"functools.partial\(mul, ...\)")):
            with pytest.raises(ValueError, match=rf"vmap\({name}\)\(<inputs>\): got no inputs"):
                torch.vmap(f)()

    def test_nested_arguments(self, torch, X):
        with pytest.raises(ValueError, match=r"Got in_dim=a for an input"):
            torch.vmap(lambda x: x[0], in_dims=(["a", 0],))([X, X])
        with pytest.raises(ValueError, match=r"Got in_dim=0 for an input but the input is of type <class 'int'>"):
            torch.vmap(lambda x: x[0], in_dims=([0, 0],))([X, 3])


# -- values are not known --

REFUSED = {
    "item": (lambda torch, x: x.sum().item(), "calling .item"),
    "float": (lambda torch, x: float(x.sum()), "calling .item"),
    "int": (lambda torch, x: int(x.sum()), "calling .item"),
    "tensor of tensors": (lambda torch, x: torch.tensor([x[0], x[1]]), None),
    "if": (lambda torch, x: x if x.sum() > 0 else -x, "data-dependent control flow"),
    "while": (lambda torch, x: 1 if x[0] < 3 else 0, "data-dependent control flow"),
    "all": (lambda torch, x: 1 if (x > 0).all() else 0, "data-dependent control flow"),
    "allclose": (lambda torch, x: torch.allclose(x, x), None),
    "equal": (lambda torch, x: torch.equal(x, x), None),
    "in": (lambda torch, x: 1.0 in x, None),
    "nonzero": (lambda torch, x: x.nonzero(), "can output dynamic shape"),
    "unique": (lambda torch, x: x.unique(), None),
    "mask": (lambda torch, x: x[x > 1], "can output dynamic shape|boolean mask"),
    "masked_select": (lambda torch, x: x.masked_select(x > 1), "vmap over `mask` in torch.masked_select"),
    "numpy": (lambda torch, x: x.numpy(), "Cannot access data pointer of Tensor that doesn't have storage"),
    "data_ptr": (lambda torch, x: x.data_ptr(), "Cannot access data pointer of Tensor that doesn't have storage"),
    "storage": (lambda torch, x: x.untyped_storage(), None),
    "deepcopy": (lambda torch, x: copy.deepcopy(x), None),
    "out=": (lambda torch, x: torch.abs(x, out=torch.zeros(3)), "Batching rule not implemented for aten::abs.out"),
    "out= of an example": (lambda torch, x: torch.abs(torch.ones(3), out=x), "Batching rule not implemented"),
    "requires_grad_": (lambda torch, x: x.requires_grad_(), r"attempting to call Tensor.requires_grad_\(\)"),
    "backward": (lambda torch, x: x.sum().backward(), r"backward\(\) called inside a functorch transform"),
    "grad": (lambda torch, x: torch.autograd.grad((x * x).sum(), x), "does not require grad"),
    "data": (lambda torch, x: x.data, "accessing `data` under vmap transform is not allowed"),
    "data of another": (lambda torch, x: setattr(torch.ones(3), "data", x), "`.data` .* transform is not allowed"),
    "channels_last": (
        lambda torch, x: x.reshape(1, 3, 1, 1).clone(memory_format=torch.channels_last),
        "only supported with memory_format torch.preserve_format or torch.contiguous_format .got ChannelsLast",
    ),
    "is channels_last": (
        lambda torch, x: x.reshape(1, 3, 1, 1).is_contiguous(memory_format=torch.channels_last),
        "querying is_contiguous inside of vmap for memory_format other than torch.contiguous_format",
    ),
    "functional": (lambda torch, x: torch.autograd.functional.jacobian(torch.sin, x), "autograd.functional"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(torch, X, name):
    f, text = REFUSED[name]
    with pytest.raises(RuntimeError, match=text):
        torch.vmap(lambda x: (f(torch, x), x)[1])(X.requires_grad_(name == "grad"))
    assert torch.equal(torch.vmap(lambda x: x + 1)(X), X + 1)


# -- writes --

WRITES = {
    "copy_": lambda made, x: made.copy_(x),
    "add_": lambda made, x: made.add_(x),
    "mul_": lambda made, x: made.mul_(x),
    "addcmul_": lambda made, x: made.addcmul_(x, x),
    "clamp_": lambda made, x: made.clamp_(x[0]),
    "fill_": lambda made, x: made.fill_(x[0]),
    "scatter_": lambda made, x: made.scatter_(0, x.new_zeros(2).long(), x[:2]),
    "index_put_": lambda made, x: made.index_put_((x.new_zeros(2).long(),), x[:2]),
    "index_add_": lambda made, x: made.index_add_(0, x.new_zeros(2).long(), x[:2]),
    "[]": lambda made, x: made.__setitem__(0, x[0]),
    "a view": lambda made, x: made[1:].copy_(x[1:]),
}


class TestWrites:
    @pytest.mark.parametrize("name", WRITES)
    def test_to_what_is_the_same_for_all(self, torch, X, name):
        made = torch.zeros(3)
        with pytest.raises(RuntimeError):
            torch.vmap(lambda x: (WRITES[name](made, x), x)[1])(X)
        assert torch.equal(made, torch.zeros(3))

    @pytest.mark.parametrize("name", WRITES)
    def test_to_each(self, torch, X, name):
        def f(x):
            made = torch.zeros_like(x)
            WRITES[name](made, x)
            return made

        assert torch.allclose(torch.vmap(f)(X), torch.stack([f(x) for x in X]))

    @pytest.mark.parametrize("name", ["addcmul_", "clamp_", "scatter_", "index_put_", "fill_"])
    def test_words(self, torch, X, name):
        with pytest.raises(RuntimeError, match=rf"vmap: .*{name}\(self, \*extra_args\) is not possible"):
            torch.vmap(lambda x: (WRITES[name](torch.zeros(3), x), x)[1])(X)

    def test_of_the_same_for_all(self, torch, X):
        made = torch.zeros(3)
        torch.vmap(lambda x: (made.add_(1), x)[1])(X)
        assert torch.equal(made, torch.ones(3))

    def test_shapes_in_place(self, torch, X):
        def f(x):
            y = x.clone()
            y.unsqueeze_(0)
            y.transpose_(0, 1)
            return y

        assert torch.equal(torch.vmap(f)(X), X.unsqueeze(2))


# -- what a batched tensor says of itself --


def test_attributes(torch):
    seen = []

    def f(x):
        seen.append((tuple(x.shape), x.stride(), x.storage_offset(), x.is_contiguous(), x.dim(), x.numel(), x.nbytes))
        return x

    whole = torch.ones(5, 3, 4)[1:3]
    torch.vmap(f, in_dims=1)(whole)
    torch.vmap(f)(whole)
    assert seen == [((2, 4), (12, 1), 12, False, 2, 8, 32), ((3, 4), (4, 1), 12, True, 2, 12, 48)]


class TestStrides:
    def test_within_each_example(self, torch, X):
        found = torch.vmap(lambda x: x.as_strided((2, 2), (1, 1)))(X)
        assert torch.equal(found, torch.stack([x.clone().as_strided((2, 2), (1, 1)) for x in X]))
        found = torch.vmap(lambda x: x[1:].as_strided((2,), (1,)))(X)
        assert torch.equal(found, X[:, 1:])
        wide = torch.arange(12.0).reshape(3, 4)
        found = torch.vmap(lambda x: x.as_strided((2,), (8,)), in_dims=1)(wide)
        assert torch.equal(found, wide.t()[:, ::2])

    def test_levels(self, torch):
        x = torch.arange(24.0).reshape(2, 3, 4)
        found = torch.vmap(torch.vmap(lambda x: x.as_strided((3, 2), (1, 1))))(x)
        assert torch.equal(found, x.unfold(2, 2, 1))

    def test_gradient(self, torch, X):
        X.requires_grad_()
        (g,) = torch.autograd.grad(torch.vmap(lambda x: x.as_strided((2, 2), (1, 1)))(X).sum(), X)
        assert torch.equal(g, torch.tensor([[1.0, 2.0, 1.0]] * 2))

    def test_refused(self, torch, X):
        with pytest.raises(RuntimeError, match=r"must have the same length! Got size \[2, 2\] and stride \[1\]"):
            torch.vmap(lambda x: x.as_strided((2, 2), (1,)))(X)
        with pytest.raises(
            RuntimeError, match=r"can access memory outside of `tensor`. `result` can access some memory"
        ):
            torch.vmap(lambda x: x.as_strided((2, 2), (1, 1), 5))(X)
        with pytest.raises(RuntimeError, match="can access memory outside of `tensor`"):
            torch.vmap(lambda x: x.as_strided((2, 2), (2, 2)))(X)


class TestRunningStatistics:
    def test_of_each_example(self, torch):
        x = torch.arange(24.0).reshape(2, 4, 3) ** 1.5
        mean, var = torch.zeros(2, 3), torch.ones(2, 3)
        norm = torch.nn.functional.batch_norm
        found = torch.vmap(lambda x, m, v: norm(x, m, v, training=True))(x, mean, var)
        for i in range(2):
            m, v = torch.zeros(3), torch.ones(3)
            assert torch.allclose(found[i], norm(x[i], m, v, training=True), atol=1e-6)
            assert torch.allclose(mean[i], m) and torch.allclose(var[i], v)

    def test_refused_where_they_are_the_same_for_all(self, torch):
        x = torch.ones(2, 4, 3)
        for layer in (torch.nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3, momentum=None)):
            with pytest.raises(RuntimeError, match="Batch norm got a batched tensor as input while the running_mean"):
                torch.vmap(layer)(x)
        assert torch.vmap(torch.nn.BatchNorm1d(3, track_running_stats=False))(x).shape == (2, 4, 3)
        assert torch.vmap(torch.nn.BatchNorm1d(3).eval())(x).shape == (2, 4, 3)


# -- functions that look at values: called for each example --

LOOPS = {
    "linspace": lambda torch, x: torch.linspace(x[0], x[1], 4),
    "repeat_interleave": lambda torch, x: torch.repeat_interleave(x, x.long().clamp(2, 2)),
    "index_reduce": lambda torch, x: torch.index_reduce(x, 0, x.long() % 3, x, "amax"),
    "histogram": lambda torch, x: torch.histogram(x, 3, range=(0.0, 6.0)).hist,
    "bincount": lambda torch, x: torch.bincount(x.long(), minlength=9),
    "nonzero_static": lambda torch, x: torch.nonzero_static(x > 2, size=3),
    "multi_margin_loss": lambda torch, x: torch.nn.functional.multi_margin_loss(x, (x[0] % 3).long()),
    "multilabel_margin_loss": lambda torch, x: torch.nn.functional.multilabel_margin_loss(x, (x % 3).long()),
    "masked_select": lambda torch, x: x.masked_select(torch.tensor([True, False, True])),
    "take_along_dim": lambda torch, x: torch.take_along_dim(x, x.argsort(), 0),
    "tensordot": lambda torch, x: torch.tensordot(x, torch.ones(3), 1),
    "put": lambda torch, x: x.put(torch.tensor([1]), torch.tensor([9.0])),
    "addr": lambda torch, x: torch.addr(x, x, x, beta=2),
    "gaussian_nll_loss": lambda torch, x: torch.nn.functional.gaussian_nll_loss(x, x * 2, torch.ones(3)),
    "index_fill": lambda torch, x: x.index_fill(0, torch.tensor([1]), x[0] * 9),
}


@pytest.mark.parametrize("name", LOOPS)
def test_each_example(torch, X, name):
    f = LOOPS[name]
    expected = torch.stack([f(torch, x) for x in X])
    assert torch.allclose(torch.vmap(lambda x: f(torch, x))(X), expected)
    nested = torch.vmap(torch.vmap(lambda x: f(torch, x)))(X.expand(2, 2, 3))
    assert torch.allclose(nested, expected.expand(2, *expected.shape))


# -- what messages say --

INTO_ONE = {
    "copy_": ("inplace arithmetic", lambda t, x: t.copy_(x)),
    "mul_": ("inplace arithmetic", lambda t, x: t.mul_(x)),
    "clamp_min_": ("inplace arithmetic", lambda t, x: t.clamp_min_(x)),
    "masked_fill_": ("inplace arithmetic", lambda t, x: t.masked_fill_(x > 2, 0.0)),
    "setitem": ("inplace arithmetic", lambda t, x: t.__setitem__(0, x[0])),
    "fill_": (r"vmap: fill_\(self", lambda t, x: t.fill_(x[0])),
    "index_add_": (r"vmap: index_add_\(self", lambda t, x: t.index_add_(0, torch_range(x), x)),
    "pow_": (r"vmap: aten::pow_\(self", lambda t, x: t.pow_(x)),
}


def torch_range(x):
    return x.argsort()


class TestWords:
    @pytest.mark.parametrize("name", INTO_ONE)
    def test_writes_to_what_is_the_same_for_all(self, torch, X, name):
        text, write = INTO_ONE[name]
        target = torch.ones(3)
        with pytest.raises(RuntimeError, match=text):
            torch.vmap(lambda x: write(target, x))(X)
        assert torch.equal(target, torch.ones(3))

    def test_answers_for_all_elements(self, torch, X):
        with pytest.raises(RuntimeError, match="Batching rule not implemented for aten::equal"):
            torch.vmap(torch.equal)(X, X)
        with pytest.raises(RuntimeError, match=r"vmap over torch\.allclose isn't supported yet"):
            torch.vmap(torch.allclose)(X, X)

    def test_where_with_a_condition_alone(self, torch, X):
        with pytest.raises(RuntimeError, match="Attempted to vmap over aten::where"):
            torch.vmap(lambda x: torch.where(x > 2))(X)

    def test_lists(self, torch, X):
        with pytest.raises(RuntimeError, match="Cannot access data pointer of Tensor that doesn't have storage"):
            torch.vmap(lambda x: x.tolist())(X)

    def test_memory_formats(self, torch, X):
        with pytest.raises(RuntimeError, match="NYI: querying is_contiguous inside of vmap for memory_format"):
            torch.vmap(lambda x: x.contiguous(memory_format=torch.channels_last))(X)

    @pytest.mark.parametrize("dim", [1, (0, 1)])
    def test_squeezing_numbers(self, torch, dim):
        with pytest.raises(RuntimeError, match="Dimension is out of range"):
            torch.vmap(lambda x: torch.squeeze(x, dim=dim))(torch.ones(3))

    def test_complex_numbers_of_pairs(self, torch):
        for shape, dim, text in (
            ((2, 7), 1, "must have a last dimension with stride 1"),
            ((3, 2), 1, "must have a last dimension of size 2"),
            ((3,), 0, "must have one or more dimensions"),
        ):
            with pytest.raises(RuntimeError, match=text):
                torch.vmap(torch.view_as_complex, in_dims=dim)(torch.ones(shape))


class TestSameTensors:
    """What leaves its argument as it is returns the very tensor that was mapped over."""

    @pytest.mark.parametrize("dim", [0, 1])
    def test_arguments_returned(self, torch, X, dim):
        for f in (lambda x: x, lambda x: x.contiguous() if dim == 0 else x, lambda x: x.float()):
            assert torch.vmap(f, in_dims=dim, out_dims=dim)(X) is X

    def test_numbers_transposed(self, torch):
        x = torch.ones(3)
        assert torch.vmap(lambda v: v.transpose(0, -1))(x) is x

    def test_detached_is_another(self, torch, leaf):
        x = leaf(2, 3)
        found = torch.vmap(lambda v: v.detach(), in_dims=1, out_dims=1)(x)
        assert found is not x and not found.requires_grad

    @pytest.mark.parametrize("shape", [(1, 3, 5), (1,), (2, 0, 1, 5, 1), (3, 1, 1)])
    def test_squeeze_is_a_view(self, torch, shape):
        x = torch.ones(shape)
        found = torch.vmap(torch.squeeze)(x)
        assert found._base is x and found.shape == (shape[0], *[n for n in shape[1:] if n != 1])


class TestOtherReadings:
    def test_another_dtype(self, torch, X):
        assert torch.equal(torch.vmap(lambda x: x.view(torch.int32))(X), X.view(torch.int32))
        assert torch.vmap(lambda x: x.view(torch.uint8), in_dims=1)(X.t()).shape == (2, 12)
        with pytest.raises(RuntimeError, match="cannot be 0 to view Float as"):
            torch.vmap(lambda x: x.view(torch.uint8))(torch.ones(4))

    def test_complex_numbers(self, torch):
        x = torch.arange(12.0).reshape(2, 3, 2)
        found = torch.vmap(torch.view_as_complex)(x)
        assert torch.equal(found, torch.view_as_complex(x)) and found._base is x._base

    def test_new_tensors_with_strides(self, torch, X):
        def make(x):
            return x.new_empty_strided((2, 4), (1, 2))

        assert torch.vmap(make)(X).stride() == (8, 1, 2)
        assert torch.vmap(torch.vmap(make))(X).stride() == (24, 8, 1, 2)


# -- examples that an operation does not take: the batch must not be mistaken for one of their dimensions --

TOO_FEW = {
    "det": lambda torch, x: torch.linalg.det(x),
    "svd": lambda torch, x: torch.linalg.svd(x),
    "inv": lambda torch, x: torch.linalg.inv(x),
    "qr": lambda torch, x: torch.linalg.qr(x),
    "eigh": lambda torch, x: torch.linalg.eigh(x),
    "lu": lambda torch, x: torch.linalg.lu(x),
    "matrix_exp": lambda torch, x: torch.linalg.matrix_exp(x),
    "cholesky_inverse": lambda torch, x: torch.cholesky_inverse(x),
    "slogdet": lambda torch, x: torch.linalg.slogdet(x),
    "trace": lambda torch, x: torch.trace(x),
    "outer": lambda torch, x: torch.outer(x.sum(), x),
    "linear": lambda torch, x: torch.nn.functional.linear(x.sum(), torch.ones(4, 3), torch.ones(4)),
    "cross": lambda torch, x: torch.linalg.cross(x, torch.ones(3, 3)),
    "unbind": lambda torch, x: torch.unbind(x.sum()),
    "split": lambda torch, x: torch.split(x.sum(), 1),
    "t": lambda torch, x: x.expand(2, 2, 3).t(),
    "take": lambda torch, x: torch.take(x, (x * 0).long() + 3),
    "put": lambda torch, x: x.put((x * 0).long() - 4, x),
    "index_add": lambda torch, x: x.index_add(0, (x * 0).long() + 3, x),
}


@pytest.mark.parametrize("name", TOO_FEW)
def test_refused_as_outside(torch, name):
    f = TOO_FEW[name]
    with pytest.raises((RuntimeError, IndexError)):
        f(torch, torch.ones(3))
    with pytest.raises((RuntimeError, IndexError)):
        torch.vmap(lambda x: f(torch, x))(torch.ones(3, 3))


@pytest.mark.parametrize("name", ["det", "trace", "unbind"])
def test_refused_for_no_examples(torch, name):
    with pytest.raises((RuntimeError, IndexError), match=r"[dD]im"):
        torch.vmap(lambda x: TOO_FEW[name](torch, x))(torch.ones(0, 3))


def test_indices_of_an_embedding_stay_in_their_table(torch, real):
    if real:
        pytest.skip("torch reads the table of another example")
    with pytest.raises(IndexError, match="index 3 on a tensor of 3"):
        torch.vmap(torch.nn.functional.embedding)(torch.tensor([[0], [3]]), torch.ones(2, 3, 2))
