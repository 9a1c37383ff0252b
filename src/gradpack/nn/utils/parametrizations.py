"""Parametrisations that keep a weight in a set: of a given length, spectral norm 1, or orthogonal."""

from __future__ import annotations

from typing import Any

from ...autograd.grad_mode import no_grad
from ...base.info import finfo
from ...core.tensor import Tensor
from ...ops.create.fill_like import zeros_like
from ...ops.linalg.products import dot, mv
from ...ops.nn.reparametrize import _weight_norm, norm_except_dim, reflections
from ...ops.random.floats import randn
from ...ops.shape.join import cat
from .. import functional as F
from ..modules.module import Module
from . import parametrize


def _tensor_of(module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return _weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Split a weight into lengths (`original0`) and directions (`original1`), which learn separately.

    Source: Salimans and Kingma, 2016.

    Args:
        dim: the dimension of the lengths; None for one length of all.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(20, 40))
        >>> layer.parametrizations.weight.original0.shape
        gradpack.Size([40, 1])
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def old_names(
        self: Any, state_dict: Any, prefix: str, metadata: Any, strict: bool, missing: Any, unexpected: Any, errors: Any
    ) -> None:
        g, v = f"{prefix}{name}_g", f"{prefix}{name}_v"
        if g in state_dict and v in state_dict:
            state_dict[f"{prefix}parametrizations.{name}.original0"] = state_dict.pop(g)
            state_dict[f"{prefix}parametrizations.{name}.original1"] = state_dict.pop(v)

    module.register_load_state_dict_pre_hook(old_names)
    return module


class _SpectralNorm(Module):
    """The weight divided by an estimate of its largest singular value, which power iteration improves."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if dim >= weight.ndim or dim < -weight.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, {weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.eps = eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight)
            rows, columns = matrix.size()
            u = matrix.new_empty(rows).normal_(0, 1)
            v = matrix.new_empty(columns).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.transpose(0, self.dim).flatten(1) if self.dim else weight.flatten(1)

    def _iterate(self, matrix: Tensor, steps: int) -> None:
        with no_grad():
            for _ in range(steps):
                self._u.copy_(F.normalize(mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(mv(matrix.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        return weight / dot(self._u.clone(), mv(matrix, self._v.clone()))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value, which every forward in training estimates better.

    Source: Miyato et al., 2018.

    Example::

        >>> import gradpack as torch
        >>> _ = torch.manual_seed(0)
        >>> layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(20, 40), n_power_iterations=50)
        >>> bool(abs(torch.linalg.matrix_norm(layer.weight, 2) - 1) < 0.1)
        True
    """
    weight = _tensor_of(module, name)
    if dim is None:
        transposed = ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")
        dim = 1 if type(module).__name__ in transposed else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


def _orthonormal(a: Tensor) -> Tensor:
    """The orthogonal factor of a matrix whose other factor has a positive diagonal."""
    from ...linalg import qr

    q, r = qr(a)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        self.trivial = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        from ... import linalg

        n, k = x.size(-2), x.size(-1)
        turned = n < k
        if turned:
            x, n, k = x.mT, k, n
        if self.orthogonal_map == "householder":
            a = x.tril(-1)
            tau = 2.0 / (1.0 + (a * a).sum(-2))
            q = linalg.householder_product(a, tau) * x.diagonal(dim1=-2, dim2=-1).detach().sgn().unsqueeze(-2)
        else:
            x = x.tril()
            if n != k:
                x = cat((x, x.new_zeros((*x.shape[:-2], n, n - k))), -1)
            a = x - x.mH
            if self.orthogonal_map == "matrix_exp":
                q = linalg.matrix_exp(a)
            else:
                from ...ops.create.fill import eye

                unit = eye(n, dtype=a.dtype, device=a.device)
                q = linalg.solve(unit - a * 0.5, unit + a * 0.5)
            q = q[..., :k] if n != k else q
        if self.trivial and self.base is not None:
            q = self.base @ q
        return q.mT if turned else q

    def right_inverse(self, q: Tensor) -> Tensor:
        with no_grad():
            return self._inverse(q)

    def _inverse(self, given: Tensor) -> Tensor:
        if given.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {given.shape}."
            )
        if not self.trivial:
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            turned = given.size(-2) < given.size(-1)
            found = reflections(given.mT if turned else given)
            return found.mT if turned else found
        q = given.mT if given.size(-2) < given.size(-1) else given
        n, k = q.size(-2), q.size(-1)
        if n == k:
            from ...ops.create.fill import eye

            unit = eye(n, dtype=q.dtype, device=q.device)
            near = bool(((q.mH @ q - unit).abs() <= 10.0 * n * finfo(q.dtype).eps + 1e-5 * unit.abs()).all())
            self.base = q.clone() if near else _orthonormal(q)
        else:
            more = randn(*q.shape[:-2], n, n - k, dtype=q.dtype, device=q.device)
            self.base = _orthonormal(cat((q, more), -1))
        out = zeros_like(given)
        out.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return out


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keep a matrix, or a batch of them, orthogonal (with orthonormal columns or rows if not square).

    Args:
        orthogonal_map: "matrix_exp", "cayley" or "householder"; by default the first for square and complex ones, else
            the last.
        use_trivialization: map a neighbourhood of the weight at hand, so that any orthogonal one can be assigned?

    Raises:
        ValueError: for vectors, and an unknown map.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(3, 3))
        >>> torch.allclose(layer.weight @ layer.weight.T, torch.eye(3), atol=1e-5)
        True
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, made, unsafe=True)
    return module


__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
