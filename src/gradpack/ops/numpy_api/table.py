"""The gradpack operation for each NumPy function called with a Tensor (data only).

A line of _FUNCTIONS is the names of functions of NumPy's that take the same parameters, our name for them (`.` for the
same, `forms.` for a function of this name in `forms`, where the two differ in more than names), and NumPy's parameters
in their order, each with the name that ours has for it after a colon. `-` for a parameter that ours does not have: it
must be left at its default.
"""

from __future__ import annotations

# NumPy's ufunc -> our operation, of the same name if none is given
UFUNCS: dict[str, str] = {
    own: ours or own
    for own, _, ours in (
        word.partition(":")
        for word in (
            "add true_divide floor_divide float_power positive sign exp exp2 expm1 log log2 log10 log1p sqrt square "
            "reciprocal sin cos tan hypot sinh cosh tanh rad2deg deg2rad maximum minimum fmax fmin floor ceil trunc "
            "fmod remainder logaddexp logaddexp2 copysign nextafter isnan isinf isfinite signbit logical_and "
            "logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not gcd lcm ldexp frexp "
            "subtract:sub multiply:mul divide:true_divide power:pow negative:neg absolute:abs fabs:abs cbrt:forms.cbrt "
            "arcsin:asin arccos:acos arctan:atan arctan2:atan2 arcsinh:asinh arccosh:acosh arctanh:atanh "
            "degrees:rad2deg radians:deg2rad rint:round mod:remainder heaviside:forms.heaviside equal:eq not_equal:ne "
            "less:lt less_equal:le greater:gt greater_equal:ge invert:bitwise_not left_shift:bitwise_left_shift "
            "right_shift:bitwise_right_shift conjugate:conj matmul:forms.matmul vecdot:forms.vecdot "
            "divmod:forms.divmod modf:forms.modf"
        ).split()
    )
}

# (ufunc, method) -> what it means along one axis, or several for a reduction
UFUNC_METHODS: dict[tuple[str, str], str] = {
    ("add", "reduce"): "sum",
    ("multiply", "reduce"): "forms.prod",
    ("maximum", "reduce"): "amax",
    ("minimum", "reduce"): "amin",
    ("logical_and", "reduce"): "all",
    ("logical_or", "reduce"): "any",
    ("logaddexp", "reduce"): "logsumexp",
    ("add", "accumulate"): "cumsum",
    ("multiply", "accumulate"): "cumprod",
    ("maximum", "accumulate"): "forms.running_max",
    ("minimum", "accumulate"): "forms.running_min",
    ("logaddexp", "accumulate"): "logcumsumexp",
}

_FUNCTIONS = """
sum nansum nanmean: . a axis:dim dtype out:- keepdims:keepdim
mean: forms. a axis dtype out:- keepdims
prod: forms. a axis:dim dtype out:- keepdims:keepdim
amax amin all any argmax argmin: . a axis:dim out:- keepdims:keepdim
max: amax a axis:dim out:- keepdims:keepdim
min: amin a axis:dim out:- keepdims:keepdim
ptp: forms. a axis out:- keepdims
var std: forms. a axis dtype out:- ddof keepdims where:- mean:- correction
median: forms. a axis out:- overwrite_input:- keepdims
quantile percentile: forms. a q axis out:- overwrite_input:- method keepdims
average: forms. a axis weights returned:-
cumsum cumprod: forms. a axis dtype out:-
count_nonzero: . a axis:dim
diff: forms. a n axis prepend append
trapezoid: forms. y x dx axis
trace: forms. a offset axis1 axis2
reshape: forms. a shape order:- newshape:-
ravel: . a order:-
transpose: forms. a axes
permute_dims: forms.transpose a axes
matrix_transpose: adjoint a
swapaxes: transpose a axis1:dim0 axis2:dim1
moveaxis: movedim a source:source destination:destination
expand_dims squeeze sort argsort: forms. a axis
concatenate: forms. arrays axis out:- dtype
concat: forms.concatenate arrays axis out:- dtype
stack: . arrays axis:dim out:-
vstack hstack dstack column_stack: . tup
split array_split: forms. ary indices_or_sections axis
broadcast_to: . array shape:size
broadcast_arrays: broadcast_tensors *
tile: . A reps:dims
repeat: repeat_interleave a repeats axis:dim
flip: forms. m axis
fliplr flipud: . m
roll: . a shift:shifts axis:dims
rot90: . m k axes:dims
atleast_1d atleast_2d atleast_3d: . *
diag: . v k:diagonal
diagonal: . a offset axis1:dim1 axis2:dim2
tril triu: . m k:diagonal
take: forms. a indices axis
take_along_axis: take_along_dim arr indices axis:dim
where: forms. condition x y
clip: forms. a a_min a_max out:- min max
nonzero: forms. a
nan_to_num: . x copy:- nan posinf neginf
real: . val
imag: forms. val
angle: . z
round: . a decimals
around: round a decimals
sinc i0 linalg.svdvals: . x
zeros_like ones_like empty_like: . a dtype
full_like: . a fill_value dtype
copy: clone a
isclose: . a b:other rtol atol equal_nan
outer inner dot vdot: forms. a b
tensordot: forms. a b axes
kron: . a b:other
cross: forms. a b axisa:- axisb:- axisc:- axis
einsum: forms. *
pad: forms. array pad_width mode constant_values
linalg.norm: forms.norm x ord axis keepdims
linalg.vector_norm: forms.vector_norm x axis keepdims ord
linalg.matrix_norm: . x keepdims:keepdim ord
linalg.det linalg.slogdet linalg.inv linalg.eig linalg.eigvals: . a
linalg.pinv: . a rcond:rtol hermitian
linalg.solve: . a b:B
linalg.cholesky: . a upper
linalg.eigh linalg.eigvalsh: . a UPLO
linalg.svd: forms.svd a full_matrices compute_uv
linalg.qr: . a mode
linalg.matrix_power: . a n
linalg.multi_dot: . arrays
linalg.cond: . x p
linalg.matrix_rank: . A
linalg.tensorsolve: . a b:other axes:dims
linalg.tensorinv: . a ind
fft.fftshift fft.ifftshift: . x axes:dim
fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft: . a n axis:dim norm
fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2 fft.fftn fft.ifftn fft.rfftn fft.irfftn: . a s axes:dim norm
"""


def _parsed(text: str) -> dict[str, tuple[str, tuple[tuple[str, str], ...]]]:
    table = {}
    for line in text.strip().splitlines():
        names, _, rest = line.partition(": ")
        target, *params = rest.split()
        pairs = [p.partition(":") for p in params]
        for name in names.split():
            ours = target.removeprefix(".") + name if target.endswith(".") else target
            table[name] = (ours, tuple((own, to or own) for own, _, to in pairs))
    return table


# NumPy's name (with the submodule) -> (our name, NumPy's parameters with what ours call them)
CALLS = _parsed(_FUNCTIONS)

# Those whose result holds no gradient: they look at the values, of tensors that require grad too.
ABOUT_VALUES = frozenset(
    "shape ndim size allclose array_equal array_equiv shares_memory may_share_memory iscomplexobj isrealobj "
    "result_type can_cast common_type array_repr array_str array2string save savez savez_compressed savetxt "
    "isscalar iscomplex isreal".split()
)
