"""The gradpack operation for each NumPy function called with a Tensor (data only).

A line of _FUNCTIONS is NumPy's name, our name (`forms.NAME` or `products.NAME` where the
two differ in more than names), and NumPy's parameters in their order, each with the name that ours has
for it after a colon. `-` for a parameter that ours does not have: it must be left at its default.
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
sum: sum a axis:dim dtype out:- keepdims:keepdim
nansum: nansum a axis:dim dtype out:- keepdims:keepdim
mean: forms.mean a axis dtype out:- keepdims
nanmean: nanmean a axis:dim dtype out:- keepdims:keepdim
prod: forms.prod a axis:dim dtype out:- keepdims:keepdim
amax: amax a axis:dim out:- keepdims:keepdim
max: amax a axis:dim out:- keepdims:keepdim
amin: amin a axis:dim out:- keepdims:keepdim
min: amin a axis:dim out:- keepdims:keepdim
ptp: forms.ptp a axis out:- keepdims
all: all a axis:dim out:- keepdims:keepdim
any: any a axis:dim out:- keepdims:keepdim
argmax: argmax a axis:dim out:- keepdims:keepdim
argmin: argmin a axis:dim out:- keepdims:keepdim
var: forms.var a axis dtype out:- ddof keepdims where:- mean:- correction
std: forms.std a axis dtype out:- ddof keepdims where:- mean:- correction
median: forms.median a axis out:- overwrite_input:- keepdims
quantile: forms.quantile a q axis out:- overwrite_input:- method keepdims
percentile: forms.percentile a q axis out:- overwrite_input:- method keepdims
average: forms.average a axis weights returned:-
cumsum: forms.cumsum a axis dtype out:-
cumprod: forms.cumprod a axis dtype out:-
count_nonzero: count_nonzero a axis:dim
diff: forms.diff a n axis prepend append
trapezoid: forms.trapezoid y x dx axis
trace: forms.trace a offset axis1 axis2
reshape: forms.reshape a shape order:- newshape:-
ravel: ravel a order:-
transpose: forms.transpose a axes
permute_dims: forms.transpose a axes
matrix_transpose: adjoint a
swapaxes: transpose a axis1:dim0 axis2:dim1
moveaxis: movedim a source:source destination:destination
expand_dims: forms.expand_dims a axis
squeeze: forms.squeeze a axis
concatenate: forms.concatenate arrays axis out:- dtype
concat: forms.concatenate arrays axis out:- dtype
stack: forms.stack arrays axis out:-
vstack: vstack tup
hstack: hstack tup
dstack: dstack tup
column_stack: column_stack tup
split: forms.split ary indices_or_sections axis
array_split: forms.array_split ary indices_or_sections axis
broadcast_to: broadcast_to array shape:size
broadcast_arrays: broadcast_tensors *
tile: tile A reps:dims
repeat: repeat_interleave a repeats axis:dim
flip: forms.flip m axis
fliplr: fliplr m
flipud: flipud m
roll: roll a shift:shifts axis:dims
rot90: rot90 m k axes:dims
atleast_1d: atleast_1d *
atleast_2d: atleast_2d *
atleast_3d: atleast_3d *
diag: diag v k:diagonal
diagonal: diagonal a offset axis1:dim1 axis2:dim2
tril: tril m k:diagonal
triu: triu m k:diagonal
take: forms.take a indices axis
take_along_axis: take_along_dim arr indices axis:dim
where: forms.where condition x y
clip: forms.clip a a_min a_max out:- min max
sort: forms.sort a axis
argsort: forms.argsort a axis
nonzero: forms.nonzero a
nan_to_num: nan_to_num x copy:- nan posinf neginf
real: real val
imag: forms.imag val
angle: angle z
round: round a decimals
around: round a decimals
sinc: sinc x
i0: i0 x
zeros_like: zeros_like a dtype
ones_like: ones_like a dtype
empty_like: empty_like a dtype
full_like: full_like a fill_value dtype
copy: clone a
isclose: isclose a b:other rtol atol equal_nan
outer: forms.outer a b
inner: forms.inner a b
dot: forms.dot a b
vdot: forms.vdot a b
tensordot: forms.tensordot a b axes
kron: kron a b:other
cross: forms.cross a b axisa:- axisb:- axisc:- axis
einsum: forms.einsum *
pad: forms.pad array pad_width mode constant_values
linalg.norm: forms.norm x ord axis keepdims
linalg.vector_norm: forms.vector_norm x axis keepdims ord
linalg.matrix_norm: linalg.matrix_norm x keepdims:keepdim ord
linalg.det: linalg.det a
linalg.slogdet: linalg.slogdet a
linalg.inv: linalg.inv a
linalg.pinv: linalg.pinv a rcond:rtol hermitian
linalg.solve: linalg.solve a b:B
linalg.cholesky: linalg.cholesky a upper
linalg.eigh: linalg.eigh a UPLO
linalg.eigvalsh: linalg.eigvalsh a UPLO
linalg.eig: linalg.eig a
linalg.eigvals: linalg.eigvals a
linalg.svd: forms.svd a full_matrices compute_uv
linalg.svdvals: linalg.svdvals x
linalg.qr: linalg.qr a mode
linalg.matrix_power: linalg.matrix_power a n
linalg.multi_dot: linalg.multi_dot arrays
linalg.cond: linalg.cond x p
linalg.matrix_rank: linalg.matrix_rank A
linalg.tensorsolve: linalg.tensorsolve a b:other axes:dims
linalg.tensorinv: linalg.tensorinv a ind
fft.fftshift: fft.fftshift x axes:dim
fft.ifftshift: fft.ifftshift x axes:dim
"""


_TRANSFORMS = "\n".join(
    f"fft.{kind}{rank}: fft.{kind}{rank} a {sizes}:dim norm"
    for rank, sizes, kinds in (
        ("", "n axis", "fft ifft rfft irfft hfft ihfft"),
        ("2", "s axes", "fft ifft rfft irfft"),
        ("n", "s axes", "fft ifft rfft irfft"),
    )
    for kind in kinds.split()
)


def _parsed(text: str) -> dict[str, tuple[str, tuple[tuple[str, str], ...]]]:
    table = {}
    for line in text.strip().splitlines():
        name, _, rest = line.partition(": ")
        target, *params = rest.split()
        pairs = [p.partition(":") for p in params]
        table[name] = (target, tuple((own, ours or own) for own, _, ours in pairs))
    return table


# NumPy's name (with the submodule) -> (our name, NumPy's parameters with what ours call them)
CALLS = _parsed(_FUNCTIONS + _TRANSFORMS)

# Those whose result holds no gradient: they look at the values, of tensors that require grad too.
ABOUT_VALUES = frozenset(
    "shape ndim size allclose array_equal array_equiv shares_memory may_share_memory iscomplexobj isrealobj "
    "result_type can_cast common_type array_repr array_str array2string save savez savez_compressed savetxt "
    "isscalar iscomplex isreal".split()
)
