"""How each operator is called by `benchmarks.ops`: one line a name and an expression, and what its names stand for.

An expression is the same text for every library. Its free names say which arrays it gets: `ARRAYS`
makes them for a number of elements n, with a fixed seed. Those of floating point need a gradient,
unless the line starts with `plain`, as in-place operations must. `plain` and `random` lines are not
checked for equal values: the libraries draw different numbers, and what is changed in place drifts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

# --- what the names stand for ---


class Sizes(NamedTuple):
    """The shapes that go with a number of elements."""

    n: int

    @property
    def columns(self) -> int:
        return max(4, min(256, isqrt(self.n)) // 2 * 2)  # of two, a norm gives 1 and -1, and its gradient is rounding

    @property
    def rows(self) -> int:
        return max(2, self.n // self.columns)

    @property
    def side(self) -> int:
        return max(2, isqrt(self.n))

    @property
    def batch(self) -> int:
        """How many matrices of 8 by 8."""
        return max(1, self.n // 64)

    @property
    def image(self) -> tuple[int, int, int, int]:
        if self.n >= 500_000:
            return 8, 32, 62, 62
        return (2, 8, 25, 25) if self.n >= 5_000 else (1, 2, 3, 3)

    @property
    def volume(self) -> tuple[int, int, int, int, int]:
        if self.n >= 500_000:
            return 4, 16, 25, 25, 25
        return (2, 4, 10, 11, 11) if self.n >= 5_000 else (1, 1, 3, 3, 3)

    @property
    def heads(self) -> tuple[int, int, int, int]:
        if self.n >= 500_000:
            return 4, 8, 976, 32
        return (2, 4, 39, 32) if self.n >= 5_000 else (1, 1, 2, 5)


def _normal(r: np.random.Generator, *shape: int) -> Array:
    return r.normal(size=shape).astype(np.float32)


def _uniform(r: np.random.Generator, low: float, high: float, *shape: int) -> Array:
    return r.uniform(low, high, shape).astype(np.float32)


def _definite(r: np.random.Generator, s: Sizes) -> Array:
    a = r.normal(size=(s.batch, 8, 8))
    return (a @ a.swapaxes(1, 2) + 8 * np.eye(8)).astype(np.float32)


ARRAYS: dict[str, Callable[[np.random.Generator, Sizes], Array]] = {
    # vectors of n elements
    "x": lambda r, s: _normal(r, s.n),
    "y": lambda r, s: _normal(r, s.n),
    "z": lambda r, s: _normal(r, s.n),
    "positive": lambda r, s: _uniform(r, 0.5, 1.5, s.n),
    "above": lambda r, s: _uniform(r, 1.5, 4.5, s.n),
    "unit": lambda r, s: _uniform(r, 0.02, 0.98, s.n),
    "near": lambda r, s: (1 + r.normal(size=s.n) / s.n**0.5).astype(np.float32),  # whose products are near 1
    "near2": lambda r, s: (1 + r.normal(size=(s.rows, s.columns)) / s.n**0.5).astype(np.float32),
    "small": lambda r, s: _uniform(r, -0.9, 0.9, s.n),
    "complex": lambda r, s: (r.normal(size=s.n) + 1j * r.normal(size=s.n)).astype(np.complex64),
    "integers": lambda r, s: r.integers(-100, 100, s.n),
    "counts": lambda r, s: r.integers(1, 60, s.n),
    "mask": lambda r, s: r.random(s.n) < 0.5,
    "places": lambda r, s: r.integers(0, s.n, s.n),
    "edges": lambda r, s: np.sort(_normal(r, s.side)),
    # matrices of n elements, with at most 256 columns
    "m": lambda r, s: _normal(r, s.rows, s.columns),
    "w": lambda r, s: _normal(r, s.rows, s.columns),
    "row": lambda r, s: _normal(r, s.columns),
    "row2": lambda r, s: _normal(r, s.columns),
    "column": lambda r, s: _normal(r, s.rows, 1),
    "mask2": lambda r, s: r.random((s.rows, s.columns)) < 0.5,
    "inside": lambda r, s: r.integers(0, s.columns, (s.rows, s.columns)),
    "down": lambda r, s: r.integers(0, s.rows, (s.rows, s.columns)),
    "rows": lambda r, s: r.integers(0, s.rows, s.rows),
    "columns": lambda r, s: r.integers(0, s.columns, s.columns),
    "labels": lambda r, s: r.integers(0, s.columns, s.rows),
    "bags": lambda r, s: r.integers(0, s.rows, (max(1, s.rows // 8), 8)),
    "chances": lambda r, s: _uniform(r, 0.02, 0.98, s.rows, s.columns),
    # square matrices, and stacks of them
    "a": lambda r, s: _normal(r, s.side, s.side),
    "b": lambda r, s: _normal(r, s.side, s.side),
    "vector": lambda r, s: _normal(r, s.side),
    "vector2": lambda r, s: _normal(r, s.side),
    "weight": lambda r, s: _normal(r, s.columns, s.columns),
    "points": lambda r, s: _normal(r, s.side, 8),
    "stack": lambda r, s: _normal(r, s.batch, 8, 8),
    "stack2": lambda r, s: _normal(r, s.batch, 8, 8),
    "definite": _definite,
    # images and sequences: (batch, channels, ...)
    "image": lambda r, s: _normal(r, *s.image),
    "k3": lambda r, s: _normal(r, s.image[1], s.image[1], 3, 3),
    "k1": lambda r, s: _normal(r, s.image[1], s.image[1], 1, 1),
    "depth3": lambda r, s: _normal(r, s.image[1], 1, 3, 3),
    "channels": lambda r, s: _normal(r, s.image[1]),
    "channels2": lambda r, s: _normal(r, s.image[1]),
    "sequence": lambda r, s: _normal(r, s.image[0], s.image[1], s.image[2] * s.image[3]),
    "k13": lambda r, s: _normal(r, s.image[1], s.image[1], 3),
    "volume": lambda r, s: _normal(r, *s.volume),
    "k333": lambda r, s: _normal(r, s.volume[1], s.volume[1], 3, 3, 3),
    "grid": lambda r, s: _uniform(r, -1, 1, s.image[0], s.image[2], s.image[3], 2),
    "queries": lambda r, s: _normal(r, *s.heads),
    "keys": lambda r, s: _normal(r, *s.heads),
    "values": lambda r, s: _normal(r, *s.heads),
}


# --- how they are called: name = expression ---

_UNARY = {
    "x": "abs sign neg exp exp2 expm1 sin cos tan sinh cosh tanh sigmoid asinh atan erf erfc sinc square relu "
    "ceil floor round trunc frac isnan isfinite logical_not nan_to_num clone zeros_like",
    "small": "asin acos atanh erfinv",
    "unit": "logit",
    "positive": "log log2 log10 log1p sqrt rsqrt reciprocal lgamma digamma",
    "complex": "abs angle conj_physical exp",
}
_ACTIVATIONS = (
    "gelu silu mish elu selu celu leaky_relu softplus hardtanh hardswish hardsigmoid logsigmoid softsign tanhshrink "
    "hardshrink softshrink relu6"
)
_BINARY = {
    "x y": "add sub mul maximum minimum fmax fmin hypot atan2 logaddexp copysign eq lt logical_and",
    "x above": "div remainder fmod",
    "positive y": "pow",
    "y positive": "xlogy",
    "integers counts": "bitwise_and gcd",
}

_LINES = """
add scalar = x + 2.5
mul scalar = x * 2.5
rsub = 1 - x
div by scalar = x / 3
pow 2 = x ** 2
pow 3 = x ** 3
pow 0.5 = positive ** 0.5
pow 2.5 = positive ** 2.5
power of scalar = 2 ** x
add row = m + row
mul column = m * column
add integers = integers + counts
floor_divide integers = integers // counts
float of integers = integers.float()
double = x.double()
long = x.long()
bfloat16 = x.bfloat16()
half = x.half()
bool = x.bool()
gelu tanh = F.gelu(x, approximate='tanh')
prelu = F.prelu(image, channels)
glu = F.glu(m)
clamp = x.clamp(-0.5, 0.5)
clamp min = x.clamp(min=0)
where = torch.where(mask, x, y)
where scalar = torch.where(mask, x, 0.0)
masked_fill = x.masked_fill(mask, 0.0)
addcmul = torch.addcmul(x, y, z, value=0.5)
addcdiv = torch.addcdiv(x, y, above, value=0.5)
lerp = torch.lerp(x, y, 0.3)
lerp tensor = torch.lerp(x, y, unit)
polar = torch.polar(above, x)
view_as_real = torch.view_as_real(complex)
real = complex.real
mul complex = complex * complex

sum = x.sum()
mean = x.mean()
prod = near.prod()
var = x.var()
std = x.std()
max = x.max()
min = x.min()
argmax = x.argmax()
norm = x.norm()
norm 1 = x.norm(1)
logsumexp = x.logsumexp(0)
median = x.median()
all = mask.all()
any = mask.any()
count_nonzero = mask.count_nonzero()
sum of bools = mask.sum()
sum of integers = integers.sum()
var_mean = torch.var_mean(x)
sum 0 = m.sum(0)
sum 1 = m.sum(1)
mean 0 = m.mean(0)
mean 1 = m.mean(1)
mean 1 keepdim = m.mean(1, keepdim=True)
prod 0 = near2.prod(0)
prod 1 = near2.prod(1)
var 0 = m.var(0)
var 1 = m.var(1)
std 0 = m.std(0)
std 1 = m.std(1)
max 0 = m.max(0)
max 1 = m.max(1)
min 1 = m.min(1)
amax 0 = m.amax(0)
amax 1 = m.amax(1)
argmax 0 = m.argmax(0)
argmax 1 = m.argmax(1)
argmin 1 = m.argmin(1)
norm 0 = m.norm(dim=0)
norm 1 = m.norm(dim=1)
logsumexp 0 = m.logsumexp(0)
logsumexp 1 = m.logsumexp(1)
var_mean 1 = torch.var_mean(m, 1)
any 1 = mask2.any(1)
median 1 = m.median(1)
nansum 1 = m.nansum(1)
sum middle = image.sum(1)
sum image = image.sum((2, 3))
mean image = image.mean((0, 2, 3))
max middle = image.max(1)
argmax middle = image.argmax(1)
cumsum = x.cumsum(0)
cumsum 0 = m.cumsum(0)
cumsum 1 = m.cumsum(1)
cumsum middle = image.cumsum(1)
cumprod 1 = chances.cumprod(1)
cummax 1 = m.cummax(1)
logcumsumexp 1 = m.logcumsumexp(1)
diff = x.diff()
sort = x.sort()
sort 1 = m.sort(1)
argsort 1 = m.argsort(1)
topk = x.topk(5)
topk 1 = m.topk(2)
kthvalue 1 = m.kthvalue(2)
unique = counts.unique()
bincount = counts.bincount()
histc = x.histc(50)
searchsorted = torch.searchsorted(edges, x)
isin = torch.isin(counts, counts[:5])

gather 0 = m.gather(0, down)
gather 1 = m.gather(1, inside)
take_along_dim 0 = torch.take_along_dim(m, down, 0)
take_along_dim 1 = torch.take_along_dim(m, inside, 1)
index_select = x.index_select(0, places)
index_select 0 = m.index_select(0, rows)
index_select 1 = m.index_select(1, columns)
index vector = x[places]
index rows = m[rows]
index columns = m[:, columns]
index both = m[rows, labels]
index mask = x[mask]
index mask 2 = m[mask2]
slice = x[1:-1]
slice 2 = m[1:, ::2]
element = x[3]
masked_select = x.masked_select(mask)
take = x.take(places)
nonzero = mask.nonzero()
scatter 1 = m.scatter(1, inside, w)
scatter_add 0 = m.scatter_add(0, down, w)
scatter_add 1 = m.scatter_add(1, inside, w)
scatter_reduce amax = m.scatter_reduce(1, inside, w, 'amax')
index_add = x.index_add(0, places, y)
index_add 0 = m.index_add(0, rows, w)
index_add 1 = m.index_add(1, columns, w)
index_copy 0 = m.index_copy(0, torch.arange(m.shape[0]), w)
index_fill 0 = m.index_fill(0, rows, 1.0)
index_reduce 0 = m.index_reduce(0, rows, w, 'amax')
index_put = x.index_put((places,), y, accumulate=True)
put = x.put(places, y)
masked_scatter = x.masked_scatter(mask, y)
one_hot = F.one_hot(labels)
embedding = F.embedding(rows, m)
embedding_bag = F.embedding_bag(bags, m)
embedding_bag sum = F.embedding_bag(bags, m, mode='sum')

cat = torch.cat([x, y])
cat 1 = torch.cat([m, w], 1)
stack = torch.stack([x, y])
stack 1 = torch.stack([x, y], 1)
chunk = m.chunk(2, 1)
split = m.split(2)[0]
unbind = image.unbind(0)
transpose copy = a.t().contiguous()
permute copy = image.permute(0, 2, 3, 1).contiguous()
reshape = m.reshape(-1)
transpose = m.transpose(0, 1)
unsqueeze = x.unsqueeze(0)
expand = row.expand(m.shape)
flip = x.flip(0)
flip 1 = m.flip(1)
roll = x.roll(3)
repeat = x.repeat(2)
repeat_interleave = x.repeat_interleave(2)
tril = a.tril()
triu = a.triu()
diagonal = a.diagonal()
diag_embed = torch.diag_embed(stack)
trace = a.trace()
rot90 = a.rot90()
pad = F.pad(image, (1, 1, 1, 1))
pad reflect = F.pad(image, (1, 1, 1, 1), mode='reflect')
meshgrid = torch.meshgrid(vector, vector2, indexing='ij')

mm = a @ b
mm transposed = a.t() @ b
matmul stack = stack @ stack2
bmm = torch.bmm(stack, stack2)
mv = a @ vector
dot = x @ y
outer = torch.outer(vector, vector2)
addmm = torch.addmm(vector, a, b)
linear = F.linear(m, weight, row)
einsum = torch.einsum('ij,jk->ik', a, b)
einsum trace = torch.einsum('ij,ij->i', a, b)
baddbmm = torch.baddbmm(stack, stack, stack2)
tensordot = torch.tensordot(a, b, 1)
cdist = torch.cdist(points, points + 1)
kron = torch.kron(points[:8], points)
det = torch.linalg.det(definite)
inverse = torch.linalg.inv(definite)
solve = torch.linalg.solve(definite, stack)
cholesky = torch.linalg.cholesky(definite)
qr = torch.linalg.qr(stack)[1]
svd values = torch.linalg.svdvals(stack)
eigvalsh = torch.linalg.eigvalsh(definite)
matrix_exp = torch.matrix_exp(stack)
vector_norm = torch.linalg.vector_norm(m, dim=1)
cross = torch.linalg.cross(points[:, :3], points[:, 1:4])

softmax = m.softmax(1)
softmax 0 = m.softmax(0)
log_softmax = m.log_softmax(1)
log_softmax 0 = m.log_softmax(0)
layer_norm = F.layer_norm(m, row.shape, row, row2)
rms_norm = F.rms_norm(m, row.shape, row)
group_norm = F.group_norm(image, 2, channels, channels2)
batch_norm = F.batch_norm(image, None, None, channels, channels2, training=True)
instance_norm = F.instance_norm(image)
normalize = F.normalize(m)
local_response_norm = F.local_response_norm(image, 2)
conv1d = F.conv1d(sequence, k13, channels, padding=1)
conv2d 3x3 = F.conv2d(image, k3, channels, padding=1)
conv2d 1x1 = F.conv2d(image, k1, channels)
conv2d stride 2 = F.conv2d(image, k3, channels, stride=2, padding=1)
conv2d depthwise = F.conv2d(image, depth3, channels, padding=1, groups=image.shape[1])
conv_transpose2d = F.conv_transpose2d(image, k3, channels, stride=2)
conv3d = F.conv3d(volume, k333, padding=1)
max_pool2d = F.max_pool2d(image, 2)
avg_pool2d = F.avg_pool2d(image, 2)
adaptive_avg_pool2d = F.adaptive_avg_pool2d(image, 1)
interpolate = F.interpolate(image, scale_factor=2)
interpolate bilinear = F.interpolate(image, scale_factor=2, mode='bilinear')
grid_sample = F.grid_sample(image, grid, align_corners=False)
unfold = F.unfold(image, 3)
fold = F.fold(F.unfold(image, 3), image.shape[2:], 3)
attention = F.scaled_dot_product_attention(queries, keys, values)
attention causal = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
cosine_similarity = F.cosine_similarity(m, w)
pairwise_distance = F.pairwise_distance(m, w)
cross_entropy = F.cross_entropy(m, labels)
nll_loss = F.nll_loss(m, labels)
mse_loss = F.mse_loss(x, y)
l1_loss = F.l1_loss(x, y)
smooth_l1_loss = F.smooth_l1_loss(x, y)
huber_loss = F.huber_loss(x, y)
binary_cross_entropy = F.binary_cross_entropy(unit, chances.flatten()[:1].detach().expand(unit.shape))
bce_with_logits = F.binary_cross_entropy_with_logits(x, unit)
kl_div = F.kl_div(x, unit, reduction='sum')

fft = torch.fft.fft(a)
ifft = torch.fft.ifft(a)
rfft = torch.fft.rfft(a)
fft2 = torch.fft.fft2(a)

plain heaviside = torch.heaviside(x, y)
plain floor_divide = x // above
plain add_ = x.add_(y)
plain mul_ = x.mul_(0.999)
plain sub_ alpha = x.sub_(y, alpha=0.001)
plain clamp_ = x.clamp_(-0.5, 0.5)
plain relu_ = x.relu_()
plain zero_ = x.zero_()
plain fill_ = x.fill_(1.0)
plain copy_ = x.copy_(y)
plain masked_fill_ = x.masked_fill_(mask, 0.5)
plain addcmul_ = x.addcmul_(y, z, value=0.001)
plain lerp_ = x.lerp_(y, 0.01)
plain scatter_add_ = m.scatter_add_(1, inside, w)
plain index_add_ = m.index_add_(0, rows, w)
plain setitem element = x.__setitem__(1, y[0])
plain setitem slice = x.__setitem__(slice(1, None), y[1:])
plain setitem places = x.__setitem__(places, y)
plain setitem mask = x.__setitem__(mask, 0.5)
plain zeros = torch.zeros(x.shape)
plain arange = torch.arange(x.shape[0])
plain empty_like = torch.empty_like(x)
random rand = torch.rand(x.shape)
random randn = torch.randn(x.shape)
random dropout = F.dropout(x, 0.5)
random bernoulli = torch.bernoulli(unit)
random randperm = torch.randperm(x.shape[0])
"""


class Operator(NamedTuple):
    """One line of the table: a way to call an operator."""

    name: str
    expression: str
    gradient: bool = True  # whether operands need one
    checked: bool = True  # whether libraries must agree on the values


def _lines() -> Iterator[Operator]:
    for operand, names in _UNARY.items():
        for name in names.split():
            yield Operator(name if operand != "complex" else f"{name} complex", f"torch.{name}({operand})")
    for name in _ACTIVATIONS.split():
        yield Operator(name, f"F.{name}(x)")
    for operands, names in _BINARY.items():
        for name in names.split():
            yield Operator(name, f"torch.{name}({operands.replace(' ', ', ')})")
    for line in _LINES.splitlines():
        name, equals, expression = line.partition(" = ")
        first, _, rest = name.partition(" ")
        if equals:
            special = first in ("plain", "random")
            yield Operator(rest if special else name, expression, first != "plain", first not in ("random", "plain"))


OPERATORS: tuple[Operator, ...] = tuple(_lines())
