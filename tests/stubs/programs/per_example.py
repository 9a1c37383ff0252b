"""Functional transforms: gradients for each example, Jacobians, ensembles."""

from __future__ import annotations

from functools import partial

import gradpack as torch
import gradpack.autograd.forward_ad as fwAD
from gradpack import Tensor, nn
from gradpack.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)


def predict(w: Tensor, b: Tensor, x: Tensor) -> Tensor:
    return torch.tanh(x @ w + b)


def mse(params: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
    return ((predict(params["w"], params["b"], x) - y) ** 2).mean()


params = {"w": torch.randn(3), "b": torch.zeros(())}
x, y = torch.randn(5, 3), torch.randn(5)
g = grad(mse)(params, x, y)
print(g["w"].shape)
gs, val = grad_and_value(mse)(params, x, y)
for _ in range(3):
    gs, val = grad_and_value(mse)(params, x, y)
    params = {k: p - 0.1 * gs[k] for k, p in params.items()}
print(val.item())
per_sample = vmap(grad(mse), in_dims=(None, 0, 0))(params, x, y)
print(per_sample["w"].shape)
jac = jacrev(predict, argnums=1)(params["w"], params["b"], x)
jac2 = jacfwd(predict)(params["w"], params["b"], x)
H = hessian(lambda w: (w**4).sum())(torch.randn(3))
out, vjp_fn = vjp(torch.sin, torch.randn(3))
(gin,) = vjp_fn(torch.ones(3))
out2, tangent = jvp(torch.sin, (torch.randn(3),), (torch.ones(3),))
out3, lin = linearize(torch.sin, torch.randn(3))
print(jac.shape, jac2.shape, H.shape, out, gin, tangent, lin(torch.ones(3)))

model = nn.Linear(3, 1)


def loss_fn(p: dict[str, Tensor], xb: Tensor, yb: Tensor) -> Tensor:
    pred = functional_call(model, p, (xb.unsqueeze(0),))
    return nn.functional.mse_loss(pred.squeeze(), yb)


mp = {k: v.detach() for k, v in model.named_parameters()}
ft = vmap(grad(loss_fn), in_dims=(None, 0, 0), randomness="same")(mp, x, y)
print({k: v.shape for k, v in ft.items()})
models = [nn.Linear(3, 1) for _ in range(4)]
ps, bufs = stack_module_state(models)
preds = vmap(lambda p, b, d: functional_call(models[0], (p, b), (d,)), in_dims=(0, 0, None))(ps, bufs, x)
print(preds.shape)
batched_dot = torch.vmap(torch.dot)
print(batched_dot(torch.randn(2, 5), torch.randn(2, 5)).tolist())
print(vmap(partial(torch.sum, dim=0))(torch.randn(2, 3)))
with fwAD.dual_level():
    dual = fwAD.make_dual(torch.randn(3), torch.ones(3))
    p, t = fwAD.unpack_dual(dual.sin())
    print(p, t)
