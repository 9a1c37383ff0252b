"""Linear algebra: what is refused and how, forms of results, gradients that no sign or phase changes."""

from __future__ import annotations

import math

import numpy as np
import pytest

SQUARE = [[2.0, 0.5, -1.0], [0.3, 3.0, 0.7], [1.1, -0.4, 4.0]]
TALL = [[1.0, 2.0], [3.0, 5.0], [-1.0, 0.5]]


def symmetric(torch):
    a = torch.tensor(SQUARE, dtype=torch.float64)
    return a @ a.mT


def complex_square(torch):
    return torch.tensor(
        [[2.0 + 1j, 0.5 - 0.3j, -1.0j], [0.3 + 0.2j, 3.0, 0.7 + 1j], [1.1, -0.4 + 0.6j, 4.0 - 1j]],
        dtype=torch.complex128,
    )


def numeric(torch, loss, x, step=1e-6):
    """The gradient of a real loss by central differences, complex ones as torch defines them."""
    found = torch.zeros_like(x)
    for position in range(x.numel()):
        for unit in (1.0, 1j) if x.is_complex() else (1.0,):
            change = torch.zeros_like(x)
            change.view(-1)[position] = unit * step
            slope = (loss(x + change) - loss(x - change)).item() / (2 * step)
            found.view(-1)[position] += slope * unit
    return found


def agree(torch, loss, x):
    leaf = x.clone().requires_grad_()
    loss(leaf).backward()
    assert torch.allclose(leaf.grad, numeric(torch, loss, x), atol=1e-6, rtol=1e-5)


# -- refusals --


def test_the_error_of_linear_algebra_is_a_runtime_error(torch):
    error = torch.linalg.LinAlgError
    assert issubclass(error, RuntimeError) and error is torch._C._LinAlgError and error.__name__ == "_LinAlgError"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t, a: t.linalg.inv(a), "The diagonal element 2 is zero, the inversion could not be completed"),
        (lambda t, a: t.inverse(a), "The diagonal element 2 is zero"),
        (lambda t, a: t.linalg.solve(a, a), "The solver failed because the input matrix is singular"),
        (lambda t, a: t.linalg.solve(t.stack([t.eye(2), a]), a), r"\(Batch element 1\): The solver failed"),
        (lambda t, a: t.linalg.cholesky(-a), r"the leading minor of order 1 is not positive-definite"),
        (lambda t, a: t.linalg.cholesky_ex(-a, check_errors=True), "not positive-definite"),
        (lambda t, a: t.linalg.inv_ex(a, check_errors=True), "is zero"),
        (lambda t, a: t.linalg.svd(a * math.nan), "contained non-finite values"),
        (
            lambda t, a: t.linalg.lstsq(t.tensor([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]), t.ones(3, 1), driver="gels"),
            "does not have full rank",
        ),
        (lambda t, a: t.linalg.matrix_power(a, -2), "is zero"),
    ],
)
def test_what_does_not_exist_is_a_linalg_error(torch, call, words):
    with pytest.raises(torch.linalg.LinAlgError, match=words):
        call(torch, torch.tensor([[1.0, 2.0], [2.0, 4.0]]))


@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "cholesky", "eig", "eigh", "eigvals", "matrix_exp"])
def test_square_matrices_are_asked_for(torch, name):
    function = getattr(torch.linalg, name)
    with pytest.raises(RuntimeError, match="must be batches of square matrices, but they are 3 by 2 matrices"):
        function(torch.tensor(TALL))
    with pytest.raises(RuntimeError, match="must have at least 2 dimensions"):
        function(torch.ones(3))


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "svd", "qr", "matrix_exp", "vector_norm", "matrix_norm"])
def test_integers_are_refused(torch, name):
    with pytest.raises(RuntimeError, match="Expected a floating point or complex tensor as input"):
        getattr(torch.linalg, name)(torch.ones(2, 2, dtype=torch.int64))


def test_two_dtypes_are_refused(torch):
    with pytest.raises(RuntimeError, match="Expected A and B to have the same dtype"):
        torch.linalg.solve(torch.eye(2), torch.ones(2, dtype=torch.float64))


@pytest.mark.parametrize("which", ["svd", "eigh", "eig"])
def test_a_loss_of_the_phase_is_refused_in_backward(torch, which):
    x = complex_square(torch).requires_grad_()
    weights = torch.tensor([[1.0 + 2j, 0.3, 1j], [0.5, 2j, 1.0], [3.0, 1.0 - 1j, 0.2j]], dtype=torch.complex128)
    if which == "svd":
        vectors = torch.linalg.svd(x).U
    elif which == "eigh":
        vectors = torch.linalg.eigh(x + x.mH).eigenvectors
    else:
        vectors = torch.linalg.eig(x).eigenvectors
    with pytest.raises(RuntimeError, match=r"specified up to multiplication by e\^\{i phi\}"):
        (vectors * weights).sum().real.backward()


def test_derivatives_that_do_not_exist_are_refused_in_backward(torch):
    x = torch.tensor(TALL, dtype=torch.float64, requires_grad=True)
    r = torch.linalg.qr(x, mode="r").R
    assert r.requires_grad
    with pytest.raises(RuntimeError, match="depends on Q, which is not computed when mode='r'"):
        r.sum().backward()
    q = torch.linalg.qr(x, mode="complete").Q
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete' and nrows > ncols"):
        q.sum().backward()
    with pytest.raises(NotImplementedError, match="derivative for 'geqrf' is not implemented"):
        torch.geqrf(x).tau.sum().backward()


def test_out_does_not_go_with_gradients(torch):
    x = torch.eye(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"out=\.\.\. arguments don't support automatic differentiation"):
        torch.linalg.inv(x, out=torch.empty(2, 2))


# -- forms of results --


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("svd", ("U", "S", "Vh")),
        ("eigh", ("eigenvalues", "eigenvectors")),
        ("eig", ("eigenvalues", "eigenvectors")),
        ("qr", ("Q", "R")),
        ("lu", ("P", "L", "U")),
        ("lu_factor", ("LU", "pivots")),
        ("lu_factor_ex", ("LU", "pivots", "info")),
        ("cholesky_ex", ("L", "info")),
        ("inv_ex", ("inverse", "info")),
        ("slogdet", ("sign", "logabsdet")),
    ],
)
def test_results_have_names(torch, name, fields):
    found = getattr(torch.linalg, name)(symmetric(torch))
    assert isinstance(found, tuple) and len(found) == len(fields)
    for field, value in zip(fields, found, strict=True):
        assert getattr(found, field) is value


def test_results_are_written_to_out(torch):
    x = symmetric(torch)
    outs = [torch.empty(0, dtype=torch.float64) for _ in range(2)]
    found = torch.linalg.eigh(x, out=tuple(outs))
    assert found.eigenvalues is outs[0] and torch.equal(outs[0], torch.linalg.eigvalsh(x))
    out = torch.empty(3, 3, dtype=torch.float64)
    assert torch.linalg.inv(x, out=out) is out and torch.allclose(out @ x, torch.eye(3, dtype=torch.float64))


def test_without_an_error_a_number_says_what_failed(torch):
    found = torch.linalg.cholesky_ex(torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]]]))
    assert found.info.tolist() == [0, 2] and found.info.dtype == torch.int32
    assert torch.linalg.inv_ex(torch.zeros(2, 2)).info.item() == 1


def test_pivots_count_from_one(torch):
    a = torch.tensor([[0.0, 1.0, 2.0], [4.0, 1.0, 1.0], [2.0, 9.0, 1.0]])
    packed, pivots = torch.linalg.lu_factor(a)
    assert pivots.tolist() == [2, 3, 3] and pivots.dtype == torch.int32
    P, L, U = torch.lu_unpack(packed, pivots)
    assert torch.allclose(P @ L @ U, a)


@pytest.mark.filterwarnings("ignore:.*deprecated")  # torch says so of the older forms, once
def test_methods(torch):
    x = symmetric(torch)
    eye = torch.eye(3, dtype=torch.float64)
    assert torch.allclose(x.inverse() @ x, eye)
    assert torch.allclose(x.det(), torch.linalg.det(x)) and torch.allclose(x.logdet(), x.det().log())
    assert torch.allclose(x.cholesky() @ x.cholesky().mT, x)
    assert torch.allclose(x.matrix_power(3), x @ x @ x) and torch.allclose(x.matrix_power(-1) @ x, eye)
    assert torch.allclose(x.pinverse(), x.inverse()) and x.trace().item() == pytest.approx(x.diagonal().sum().item())
    U, S, V = x.svd()
    assert torch.allclose(U @ torch.diag(S) @ V.mT, x)
    q, r = x.qr()
    assert torch.allclose(q @ r, x)
    assert torch.allclose(x.slogdet()[1].exp(), x.det().abs())


def test_the_inverse_of_householder_vectors(torch):
    a = torch.tensor(TALL, dtype=torch.float64)
    packed, tau = torch.geqrf(a)
    q = torch.linalg.householder_product(packed, tau)
    assert torch.allclose(q @ packed[:2].triu(), a)
    whole = torch.ormqr(packed, tau, torch.eye(3, dtype=torch.float64))
    assert torch.allclose(whole[:, :2], q)
    turned = torch.ormqr(packed, tau, whole, transpose=True)
    assert torch.allclose(turned, torch.eye(3, dtype=torch.float64), atol=1e-12)


# -- gradients --

LOSSES = {
    "det": lambda t, x: t.linalg.det(x).abs(),
    "logabsdet": lambda t, x: t.linalg.slogdet(x)[1],
    "sign": lambda t, x: (t.linalg.slogdet(x)[0] * (0.3 + 0.7j if x.is_complex() else 1.0)).real + x.abs().sum(),
    "inv": lambda t, x: (t.linalg.inv(x) ** 2).sum().abs(),
    "solve": lambda t, x: (t.linalg.solve(x, x.mT) ** 2).sum().abs(),
    "eigvals": lambda t, x: (t.linalg.eigvals(x) ** 3).sum().abs(),
    "eigenvectors": lambda t, x: (t.linalg.eig(x).eigenvectors.abs()[0] ** 3).sum(),
    "eigh": lambda t, x: (t.linalg.eigh(x + x.mH).eigenvectors.abs() ** 3)[:2].sum(),
    "eigvalsh": lambda t, x: (t.linalg.eigvalsh(x + x.mH) ** 3).sum(),
    "svdvals": lambda t, x: (t.linalg.svdvals(x) ** 3).sum(),
    "svd": lambda t, x: (t.linalg.svd(x)[0].abs() ** 3)[:2].sum() + (t.linalg.svd(x)[2].abs() ** 3)[:, 1:].sum(),
    "low rank": lambda t, x: t.linalg.svd(x).U[:, :2].abs().pow(3).sum(),
    "cholesky": lambda t, x: (t.linalg.cholesky(x @ x.mH + 1e-3 * x.abs().sum() * t.eye(3).double()) ** 2).sum().abs(),
    "qr": lambda t, x: (t.linalg.qr(x).R.abs() ** 3).sum(),
    "lu": lambda t, x: sum((p**2).sum() for p in t.linalg.lu(x)[1:]).abs(),
    "pinv": lambda t, x: (t.linalg.pinv(x[:, :2]) ** 2).sum().abs(),
    "lstsq": lambda t, x: (t.linalg.lstsq(x[:, :2], x[:, 2:]).solution ** 2).sum().abs(),
    "matrix_exp": lambda t, x: (t.linalg.matrix_exp(x / 3) ** 2).sum().abs(),
    "power": lambda t, x: t.linalg.matrix_power(x, 5).abs().sum(),
    "nuclear": lambda t, x: t.linalg.matrix_norm(x, "nuc"),
    "spectral": lambda t, x: t.linalg.norm(x, 2),
    "cond": lambda t, x: t.linalg.cond(x),
    "cond 1": lambda t, x: t.linalg.cond(x, 1),
    "cross": lambda t, x: (t.linalg.cross(x, x.mT) ** 2).sum().abs(),
    "cov": lambda t, x: (t.cov(x) ** 2).sum().abs(),
    "renorm": lambda t, x: (t.renorm(x, 2, 0, 1.5) ** 3).sum().abs(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_those_of_differences(torch, real, name):
    if real and name == "cond 1":
        pytest.skip("torch writes to what it has saved, and refuses")
    agree(torch, lambda x: LOSSES[name](torch, x), torch.tensor(SQUARE, dtype=torch.float64))


@pytest.mark.parametrize("name", [n for n in LOSSES if n not in ("sign", "cond 1")])
def test_complex_gradients_are_those_of_differences(torch, name):
    agree(torch, lambda x: LOSSES[name](torch, x), complex_square(torch))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("of", ["real", "complex"])
def test_second_derivatives_are_those_of_differences(torch, real, name, of):
    if real and name == "cond 1":
        pytest.skip("torch writes to what it has saved, and refuses")
    if of == "complex" and name in ("sign", "cond 1"):
        pytest.skip("the first derivative is tested")
    start = torch.tensor(SQUARE, dtype=torch.float64) if of == "real" else complex_square(torch)
    weights = torch.arange(9, dtype=torch.float64).reshape(3, 3) / 5 - 0.7

    def slope(x, graph):
        leaf = x if graph else x.detach().requires_grad_()
        (g,) = torch.autograd.grad(LOSSES[name](torch, leaf), leaf, create_graph=graph)
        return ((g.real + g.imag * 0.4 if g.is_complex() else g) * weights).sum()

    leaf = start.clone().requires_grad_()
    (found,) = torch.autograd.grad(slope(leaf, True), leaf)
    assert torch.allclose(found, numeric(torch, lambda x: slope(x, False), start, 1e-5), atol=1e-4, rtol=1e-4)


def test_the_gradient_of_a_determinant_is_the_cofactors_of_a_singular_matrix_too(torch, real):
    x = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    det = torch.linalg.det(x)
    if real and not det:
        pytest.skip("torch gives zeros where its elimination ends in an exact zero, as on some processors")
    det.backward()
    expected = [[4.0, 4.0, -4.0], [-2.0, -2.0, 2.0], [0.0, 0.0, 0.0]]
    assert torch.allclose(x.grad, torch.tensor(expected, dtype=torch.float64), atol=1e-9)


def test_equal_singular_values_have_no_gradient_of_their_vectors(torch):
    x = torch.eye(2, dtype=torch.float64, requires_grad=True)
    U, _, Vh = torch.linalg.svd(x)
    (U[0, 0] + 2 * Vh[0, 1]).backward()
    assert not torch.isfinite(x.grad).all()
    y = torch.eye(2, dtype=torch.float64, requires_grad=True)
    torch.linalg.svdvals(y).sum().backward()
    assert torch.allclose(y.grad, torch.eye(2, dtype=torch.float64))


def test_batches_are_broadcast_and_their_gradients_summed(torch):
    a = symmetric(torch).requires_grad_()
    b = torch.ones(4, 2, 3, 1, dtype=torch.float64, requires_grad=True)
    x = torch.linalg.solve(a, b)
    assert tuple(x.shape) == (4, 2, 3, 1)
    x.sum().backward()
    assert tuple(a.grad.shape) == (3, 3) and torch.allclose(a.grad[:, :1], a.grad[:, :1])
    single = symmetric(torch).requires_grad_()
    torch.linalg.solve(single, torch.ones(3, dtype=torch.float64)).sum().backward()
    assert torch.allclose(a.grad, 8 * single.grad)


def test_distances_have_no_gradient_where_they_are_zero(torch):
    x = torch.tensor([[1.0, 2.0], [1.0, 2.0], [4.0, 6.0]], requires_grad=True)
    torch.cdist(x, x).sum().backward()
    assert torch.isfinite(x.grad).all()
    y = torch.tensor([[1.0, 2.0], [1.0, 2.0], [4.0, 6.0]], requires_grad=True)
    d = torch.nn.functional.pdist(y)
    assert d.tolist() == [0.0, 5.0, 5.0]
    d.sum().backward()
    assert torch.allclose(x.grad, 2 * y.grad)


def test_low_rank_decompositions(torch):
    a = torch.tensor(TALL, dtype=torch.float64) @ torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]]).double()
    U, S, V = torch.svd_lowrank(a, q=2)
    assert torch.allclose(U @ torch.diag(S) @ V.mT, a)
    U, S, V = torch.pca_lowrank(a, q=2)
    assert torch.allclose(U @ torch.diag(S) @ V.mT, a - a.mean(0), atol=1e-10)
    E, X = torch.lobpcg(symmetric(torch), k=1)
    assert torch.allclose(symmetric(torch) @ X, E * X, atol=1e-4)


@pytest.mark.filterwarnings("ignore:cov\\(\\). degrees of freedom is <= 0")
@pytest.mark.parametrize("correction", [3, 5])
def test_covariances_without_degrees_of_freedom_are_infinite_with_their_sign(torch, correction):
    x, inf = torch.tensor([[1.0, 2.0], [5.0, 3.0]]), float("inf")
    counts, weights = torch.tensor([1, 2]), torch.tensor([1.0, 2.0])
    for given in ({}, {"fweights": counts}, {"aweights": weights}, {"fweights": counts, "aweights": weights}):
        made = torch.cov(x, correction=correction, **given)
        assert made.tolist() == [[inf, -inf], [-inf, inf]]


NAMED = {
    "max": (0,), "min": (0,), "median": (0,), "mode": (0,), "sort": (), "topk": (1,), "kthvalue": (1,), "cummax": (0,),
    "aminmax": (), "frexp": (),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_results_in_out_have_names(torch, name):
    function, x = getattr(torch, name), torch.tensor(SQUARE)
    outs = tuple(t.new_empty(0) for t in function(x, *NAMED[name]))
    found = function(x, *NAMED[name], out=outs)
    first, second = {"aminmax": ("min", "max"), "frexp": ("mantissa", "exponent")}.get(name, ("values", "indices"))
    assert getattr(found, first) is outs[0] and getattr(found, second) is outs[1]


def test_factors_of_addr_are_numbers_of_its_kind(torch):
    vector = torch.ones(2)
    for dtype in (torch.float32, torch.complex64, torch.int64):
        given = [t.to(dtype) for t in (torch.ones(2, 2), vector, vector)]
        for label in ("beta", "alpha"):
            with pytest.raises(RuntimeError, match=f"Boolean {label} only supported for Boolean results"):
                torch.addr(*given, **{label: True})
    with pytest.raises(RuntimeError, match="argument beta must not be a floating point number"):
        torch.addr(*given, beta=1.5)
    assert torch.addr(*given, beta=2, alpha=3).tolist() == [[5, 5], [5, 5]]


@pytest.mark.parametrize("form", ["cdd,bb,ad->ab", "dcd,bb,ad->ab", "bb,b,b->b"])
def test_einsum_of_several_operands_with_repeated_letters(torch, form):
    sizes = {"a": 5, "b": 4, "c": 2, "d": 3}
    given = [torch.rand([sizes[c] for c in term], dtype=torch.float64) for term in form.split("->")[0].split(",")]
    assert torch.allclose(torch.einsum(form, *given), torch.from_numpy(np.einsum(form, *[t.numpy() for t in given])))


def test_the_exponential_of_zeros_is_the_identity(torch):
    zeros = torch.zeros(7, 7, dtype=torch.float64)
    assert torch.equal(torch.linalg.matrix_exp(zeros), torch.eye(7, dtype=torch.float64))


def test_conditions_of_singular_matrices_beside_others(torch):
    x = torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]])
    found = torch.linalg.cond(x, "nuc")
    assert torch.allclose(found[0], torch.tensor(17.0)) and found[1].isnan() and found[2].isinf()
    assert torch.linalg.cond(x, "fro")[1:].isinf().all()


def test_limits_of_drivers_of_least_squares(torch):
    a, b = torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([[2.0], [3.0]])
    for driver, limit in (("gels", 0.9), ("gels", 1.0), ("gelsd", 1.0)):
        assert torch.allclose(torch.linalg.lstsq(a, b, rcond=limit, driver=driver)[0], torch.tensor([[1.0], [3.0]]))
    found = torch.linalg.lstsq(a, b, rcond=1.0, driver="gelsy")
    assert found.rank == 1 and torch.allclose(found.solution, torch.tensor([[1.0], [0.0]]))
    with pytest.raises(RuntimeError, match=r"input.size\(-2\) should match other.size\(-1\)"):
        torch.linalg.lstsq(a, torch.ones(3))


def test_results_without_elements_are_written_to_expanded_tensors(torch):
    out = torch.ones(2, 1, 0).expand(2, 3, 0)
    assert torch.linalg.solve_triangular(torch.eye(3), out, upper=True, out=out) is out


@pytest.mark.filterwarnings("ignore:Sparse invariant checks:UserWarning")
def test_components_of_sparse_data(torch):
    data = torch.tensor([[1.0, 0.0], [0.0, 0.0], [3.0, 0.0]])
    for given in (data, data.to_sparse()):
        U, S, V = torch.pca_lowrank(given, q=1)
        assert torch.allclose(U * S @ V.mT, data - data.mean(0), atol=1e-5)
