"""Every operation in every dtype: functions that fail for one `Case` if a dtype is treated wrongly."""

# ruff: noqa: PT017 - the message of one assertion says what all its parts mean

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from gradpack.backends import NUMPY
from gradpack.base import dtypes
from gradpack.base.modes import using
from gradpack.core.tensor import Tensor, wrap

from . import checks
from .cases import Case, close, mode_now, same

LOW = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))

# Operations that torch refuses for complex numbers: there is no order among them, or no kernel for
# them. Their declarations or bodies must refuse them, and all others take them.
NOT_FOR_COMPLEX = frozenset(
    """
    _attention _elu _layer_norm _max_all _median_all _min_all _nanmedian_all _prelu _softshrink _thnn_fused_gru_cell
    _thnn_fused_lstm_cell amax amin aminmax argmax argmin argsort clamp cummax cummin erf fmax fmin ge gelu gt
    hardshrink hardsigmoid hardswish hardtanh kthvalue le leaky_relu log_softmax logsigmoid lt max maximum median min
    minimum mish nanmedian nansum relu scatter_extreme sign softmax softplus sort threshold topk frexp _row_distance
    cdist
    """.split()
)


# Operations that torch has for float32 and float64 (and their complex numbers) only.
NOT_FOR_LOW = frozenset(
    """
    _eigvals _eigvalsh _row_distance _svdvals cdist cholesky cholesky_inverse cholesky_solve geqrf linalg_cholesky_ex
    linalg_det linalg_eig linalg_eigh linalg_householder_product linalg_inv_ex linalg_ldl_factor_ex linalg_ldl_solve
    linalg_lstsq linalg_lu linalg_lu_factor_ex linalg_lu_solve linalg_pinv linalg_qr linalg_slogdet linalg_solve_ex
    linalg_solve_triangular linalg_svd lu_unpack triangular_solve
    """.split()
)

# Whose low-precision result is not that of float32 rounded once, and why.
ROUNDS_TWICE = {
    "scatter_reduce": "torch rounds the sum before it divides by the count",
    "histc": "torch works out the bins in the dtype itself",
    "nextafter": "its steps are those of the dtype itself",
}


def expected_dtype(case: Case, given: dtypes.dtype) -> dtypes.dtype | None:
    """The dtype that the declaration promises for the first result; None if it promises none."""
    op, rule = case.op, case.op.result
    if rule == "bool":
        return dtypes.bool_
    if rule == "index":
        return dtypes.int64
    kinds = {t.kind for t, p in zip(case.leaves, case.params, strict=True) if p in op.promote or p in op.lists}
    numbers = [v for p, v in zip(op.params, op.bind(*case.sample.map(lambda t: t)), strict=True) if p in op.promote]
    if rule is None or "float" not in kinds or "complex" in kinds or any(isinstance(v, complex) for v in numbers):
        return None
    if given.category < dtypes.FLOATING and ("int" in kinds or any(isinstance(v, int | float) for v in numbers)):
        return None
    if rule == "float" and given.category < dtypes.FLOATING:
        return dtypes.get_default_dtype()
    if rule == "sum" and given.category < dtypes.FLOATING:
        return dtypes.int64
    if rule == "complex":
        return given.to_complex()
    return given.to_real() if rule == "real" else given


def dtype_of_results(case: Case, given: Any) -> list[Tensor]:
    """The results for floats of dtype `given`, whose dtype is what the declaration promises."""
    with using(grad=False):
        outs = case.call([wrap(a) for a in case.arrays(given)])
    promised = expected_dtype(case, wrap(np.zeros((), given)).dtype)
    if promised is not None:
        found = outs[0].dtype
        assert found is promised, (
            f"{case}: {np.dtype(given)} gives {found}, and result={case.op.result!r} promises {promised}"
        )
    return outs


def widened(array: Any) -> Any:
    """The same elements in the dtype that they are computed with in."""
    return NUMPY.cast(array, dtypes.computed_in(NUMPY.spec(array).dtype))


def low_precision(case: Case) -> None:
    """In float16 and bfloat16, the result is that of float32, rounded once; gradients keep the dtype.

    What an operation says that it `rounds`, it does before that.
    """
    if not any(t.kind == "float" for t in case.leaves):
        return
    dtype_of_results(case, np.float32)
    if case.op.name in NOT_FOR_LOW or "F" in case.op.dtypes:
        assert all(_refusal(case, given) for given in LOW), f"{case}: takes a low precision that torch refuses"
        return
    for given in LOW:
        arrays = case.arrays(given)
        wide = [a.astype(np.float32) if a.dtype == given else a for a in arrays]
        outs = dtype_of_results(case, given)
        for out, exact in zip(outs, case.rounded(given).values(wide), strict=True):
            if exact.dtype != np.float32:
                assert same(widened(out._data), widened(NUMPY.cast(exact, out.dtype))), (
                    f"{case}: another {exact.dtype} result for {given} than for float32"
                )
            elif case.op.name in ROUNDS_TWICE:
                assert close(out._data, exact, 2 * float(ml_dtypes.finfo(given).eps)), (
                    f"{case}: the {given} result is off"
                )
            elif out._data.dtype == given:
                assert same(out._data, exact.astype(given)), (
                    f"{case}: the {given} result is not that of float32, rounded once"
                )
        seeds = [NUMPY.cast(u, o.dtype) for u, o in zip(case.seeds(wide), case.differentiable(outs), strict=False)]
        if not case.inputs or not seeds:
            continue
        found = case.gradients(arrays, seeds)
        exact_gradients = case.gradients(wide, [widened(u) for u in seeds])
        eps = float(ml_dtypes.finfo(given).eps)
        for i, g, exact in zip(case.inputs, found, exact_gradients, strict=True):
            assert g.dtype == arrays[i].dtype and g.shape == arrays[i].shape, (
                f"{case}: the gradient of {case.params[i]}, {given}{list(arrays[i].shape)}, is {g.dtype}{list(g.shape)}"
            )
            assert close(g, exact.astype(g.dtype), 16 * eps, eps), (
                f"{case}: the {given} gradient of {case.params[i]} is off"
            )


def single_precision(case: Case) -> None:
    """In float32, results and gradients are those of float64 to its precision, and stay float32."""
    arrays = case.arrays(np.float32)
    wide = [a.astype(np.float64) if a.dtype == np.float32 else a for a in arrays]
    for out, exact in zip(dtype_of_results(case, np.float32), case.values(wide), strict=True):
        if exact.dtype.kind in "biu":
            assert same(out._data, exact), f"{case}: another result for float32 than for float64"
        else:
            assert close(out._data, exact, 2e-5), f"{case}: the float32 result is off"
    seeds = case.seeds(wide)
    if not case.inputs or not seeds:
        return
    single = [u.astype(v.dtype) for u, v in zip(seeds, case.smooth_values(arrays), strict=True)]
    largest = max((float(np.abs(u).max()) for u in seeds if u.size), default=0.0)
    for i, g, exact in zip(case.inputs, case.gradients(arrays, single), case.gradients(wide, seeds), strict=True):
        assert g.dtype == arrays[i].dtype, f"{case}: the float32 gradient of {case.params[i]} is {g.dtype}"
        assert close(g, exact, 1e-4, 1e-6 * largest), f"{case}: the float32 gradient of {case.params[i]} is off"


def complex_numbers(case: Case) -> None:
    """Complex numbers go through, with their derivatives, or are refused as torch refuses them."""
    if not any(t.kind == "float" for t in case.leaves):
        return
    refused = _refusal(case, np.complex64)
    expected = case.op.name not in NOT_FOR_COMPLEX and "c" in case.op.dtypes
    assert expected == (refused is None), (
        f"{case}: dtypes={case.op.dtypes!r}, torch {'takes' if expected else 'refuses'} complex numbers, and here they "
        f"give {refused or 'a result'!r}"
    )
    if refused is not None:
        return
    arrays = case.arrays(np.complex64)
    wide = [a.astype(np.complex128) if a.dtype == np.complex64 else a for a in arrays]
    for out, exact in zip(case.values(arrays), case.values(wide), strict=True):
        assert out.dtype.kind == exact.dtype.kind and close(out, exact, 5e-5), f"{case}: the complex64 result is off"
    dtype_of_results(case, np.complex128)
    if case.op.inputs:
        checks.first_order(case, np.complex128)
        checks.second_order(case, np.complex128)
        checks.tangents(case, np.complex128)


def integers(case: Case) -> None:
    """Integers and bool give a result of the promised dtype, or an exception of torch's kinds."""
    if not any(t.kind == "float" for t in case.leaves):
        return
    for given, letter in ((np.int64, "i"), (np.int32, "i"), (np.uint8, "i"), (np.bool_, "b")):
        refused = _refusal(case, given)
        if refused is None:
            assert letter in case.op.dtypes or _promoted(case), f"{case}: {np.dtype(given)} is taken, and not declared"
            dtype_of_results(case, given)


def _promoted(case: Case) -> bool:
    """Whether something else in the sample decides the dtype."""
    return expected_dtype(case, dtypes.bool_) is None


def _refusal(case: Case, given: Any) -> Exception | None:
    """The exception with which a dtype is refused, if it is: one that torch's users expect, with a sentence."""
    before = mode_now()
    arrays = case.arrays(given)
    try:
        with using(grad=False):
            case.call([wrap(a) for a in arrays])
    except (RuntimeError, TypeError, IndexError) as error:
        assert len(str(error).split()) >= 4, f"{case}: {error!r} for {np.dtype(given)} says too little"
        for word in ("ufunc", "numpy", "unsupported operand"):
            assert word not in str(error), f"{case}: {error!r} for {np.dtype(given)} is a message of NumPy or Python"
        assert mode_now() == before, f"{case}: a refusal of {np.dtype(given)} left the mode changed"
        return error
    return None
