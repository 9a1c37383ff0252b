"""Variational inference of a regression, whose guide has no random part, and a log-joint of a mixture."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import SVI, Trace_ELBO, TraceEnum_ELBO, config_enumerate
from pyro.infer.autoguide import AutoDelta
from pyro.optim import Adam
from same import normal

x = normal(60, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5]) + 0.1 * normal(60, seed=4)


def regression(x, y):
    weight = pyro.sample("weight", dist.Normal(torch.zeros(3), 1.0).to_event(1))
    scale = pyro.sample("scale", dist.HalfCauchy(1.0))
    with pyro.plate("data", len(x)):
        pyro.sample("y", dist.Normal(x @ weight, scale), obs=y)


def point(site):
    return torch.full(site["fn"].shape(), 0.5)


guide = AutoDelta(regression, init_loc_fn=point)
svi = SVI(regression, guide, Adam({"lr": 0.05}), Trace_ELBO())
print("losses", [round(svi.step(x, y), 3) for _ in range(25)])
print("weight", guide.median()["weight"], "scale", guide.median()["scale"])

pyro.clear_param_store()


@config_enumerate
def mixture(values):
    weights = pyro.param("weights", torch.tensor([0.4, 0.6]), constraint=dist.constraints.simplex)
    places = pyro.param("places", torch.tensor([-1.0, 0.7]))
    with pyro.plate("values", len(values)):
        kind = pyro.sample("kind", dist.Categorical(weights))
        pyro.sample("value", dist.Normal(places[kind], 1.0), obs=values)


svi = SVI(mixture, lambda values: None, Adam({"lr": 0.1}), TraceEnum_ELBO(max_plate_nesting=1))
print("losses", [round(svi.step(y), 3) for _ in range(15)])
print(pyro.param("places").detach(), pyro.param("weights").detach())
