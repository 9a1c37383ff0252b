"""Averages of weights: `torch.optim.swa_utils`."""

from __future__ import annotations

import copy
import importlib

import pytest


@pytest.fixture
def swa(torch):
    return importlib.import_module(f"{torch.__name__}.optim.swa_utils")


def trained(torch, model, averaged, steps=5):
    """Weights of a model that moves, after each of which the average is updated."""
    path = []
    for step in range(steps):
        with torch.no_grad():
            for p in model.parameters():
                p += step + 1
        averaged.update_parameters(model)
        path.append([p.detach().clone() for p in model.parameters()])
    return path


@pytest.mark.parametrize("way", ["plain", "avg_fn", "multi_avg_fn"])
def test_the_mean_of_all_weights(torch, swa, way):
    made = {"plain": None, "avg_fn": swa.get_swa_avg_fn(), "multi_avg_fn": swa.get_swa_multi_avg_fn()}[way]
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)).double()
    averaged = swa.AveragedModel(model, **({} if made is None else {way: made}))
    path = trained(torch, model, averaged)
    for own, *all_of_it in zip(averaged.parameters(), *path, strict=True):
        assert torch.allclose(own, sum(all_of_it) / len(all_of_it))
    assert averaged.n_averaged.item() == 5 and torch.equal(
        averaged(torch.zeros(2).double()), averaged.module(torch.zeros(2).double())
    )


@pytest.mark.parametrize("way", ["avg_fn", "multi_avg_fn"])
def test_an_exponential_average(torch, swa, way):
    made = swa.get_ema_avg_fn(0.75) if way == "avg_fn" else swa.get_ema_multi_avg_fn(0.75)
    model = torch.nn.Linear(2, 1).double()
    averaged = swa.AveragedModel(model, **{way: made})
    first, *rest = trained(torch, model, averaged)
    for weights in rest:
        first = [0.75 * a + 0.25 * w for a, w in zip(first, weights, strict=True)]
    assert all(torch.allclose(own, wanted) for own, wanted in zip(averaged.parameters(), first, strict=True))


def test_buffers_are_taken_over_or_averaged(torch, swa):
    model = torch.nn.BatchNorm1d(1)
    taken, mean = swa.AveragedModel(model), swa.AveragedModel(model, use_buffers=True)
    for value in 1.0, 5.0:
        model.running_mean.fill_(value)
        model.num_batches_tracked.fill_(int(value))
        taken.update_parameters(model)
        mean.update_parameters(model)
    assert taken.module.running_mean.item() == 5 and mean.module.running_mean.item() == 3
    assert mean.module.num_batches_tracked.item() == 3


def test_its_state_is_kept(torch, swa):
    model = torch.nn.Linear(2, 1)
    averaged = swa.AveragedModel(model)
    trained(torch, model, averaged, 3)
    other = swa.AveragedModel(torch.nn.Linear(2, 1))
    other.load_state_dict(averaged.state_dict())
    assert list(averaged.state_dict()) == ["n_averaged", "module.weight", "module.bias"]
    assert other.n_averaged.item() == 3 and torch.equal(other.module.weight, averaged.module.weight)
    assert copy.deepcopy(averaged).n_averaged.item() == 3


def test_what_is_refused(torch, swa):
    model = torch.nn.Linear(1, 1)
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn"):
        swa.AveragedModel(model, avg_fn=swa.get_swa_avg_fn(), multi_avg_fn=swa.get_swa_multi_avg_fn())
    with pytest.raises(ValueError, match=r"Invalid decay value 1\.5"):
        swa.get_ema_multi_avg_fn(1.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    with pytest.raises(ValueError, match="anneal_strategy must be one of"):
        swa.SWALR(optimizer, 0.1, anneal_strategy="steps")
    with pytest.raises(ValueError, match="anneal_epochs must be equal or greater than 0"):
        swa.SWALR(optimizer, 0.1, anneal_epochs=-1)
    with pytest.raises(ValueError, match="swa_lr"):
        swa.SWALR(optimizer, [0.1, 0.2])


def test_running_statistics_anew(torch, swa):
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3, momentum=0.3))
    batches = [(torch.randn(8, 2), torch.zeros(8)) for _ in range(4)]
    model.eval()
    swa.update_bn(batches, model)
    seen = [model[0](x) for x, _ in batches]
    wanted = sum(s.mean(0) for s in seen) / 4, sum(s.var(0) for s in seen) / 4
    assert torch.allclose(model[1].running_mean, wanted[0], atol=1e-6)
    assert torch.allclose(model[1].running_var, wanted[1], atol=1e-6)
    assert model[1].momentum == 0.3 and not model.training and not model[1].training


@pytest.mark.parametrize(
    ("strategy", "rates"), [("linear", [0.875, 0.75, 0.625, 0.5, 0.5]), ("cos", [0.926777, 0.75, 0.573223, 0.5, 0.5])]
)
def test_the_rate_goes_to_a_fixed_one(torch, swa, strategy, rates):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    schedule = swa.SWALR(optimizer, 0.5, anneal_epochs=4, anneal_strategy=strategy)
    other = swa.SWALR(torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0), 0.7)
    seen = []
    for _ in range(5):
        optimizer.step()
        schedule.step()
        seen += schedule.get_last_lr()
    assert seen == pytest.approx(rates, abs=1e-6)
    other.load_state_dict(schedule.state_dict())
    assert other.anneal_epochs == 4 and other.get_last_lr() == schedule.get_last_lr()


def test_an_optimiser_whose_step_was_replaced(torch):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    step = type(optimizer).step
    optimizer.step = lambda *args, **kwargs: step(optimizer, *args, **kwargs)
    optimizer.step()
    with pytest.warns(UserWarning, match=r"`optimizer.step\(\)` has been overridden"):
        schedule.step()
    with pytest.warns(UserWarning, match="epoch parameter"):
        schedule.step(3)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "RMSprop", "Adadelta", "Adagrad", "NAdam", "RAdam", "Rprop", "ASGD"])
def test_optimisers_load_what_older_ones_wrote(torch, name):
    """Counts that are plain numbers, and groups without options that came later."""
    p, q = (torch.ones(2, requires_grad=True) for _ in range(2))
    first, second = (getattr(torch.optim, name)([t]) for t in (p, q))
    for _ in range(2):
        p.grad = torch.ones(2)
        first.step()
    state = copy.deepcopy(first.state_dict())
    state["state"][0]["step"] = state["state"][0]["step"].item()
    del state["param_groups"][0]["maximize"]
    second.load_state_dict(state)
    with torch.no_grad():
        q.copy_(p)
    p.grad, q.grad = torch.full((2,), 0.5), torch.full((2,), 0.5)
    first.step()
    second.step()
    assert torch.equal(p, q) and second.state[q]["step"].item() == 3
