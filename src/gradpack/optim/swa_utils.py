"""Averages of the weights that a training passes through: `AveragedModel`, `SWALR`, `update_bn`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from ..autograd.grad_mode import no_grad
from ..base.dtypes import float32, float64
from ..core.tensor import Tensor
from ..declare.signature.constructors import explain_constructors
from ..nn import Module
from ..nn._public import give_all
from ..nn.modules.batchnorm import _BatchNorm
from ..ops.create.create import tensor
from ._lr_cycles import _annealed, _check_strategy, _for_each
from .lr_scheduler import LRScheduler
from .optimizer import Optimizer

Average = Callable[[Tensor, Tensor, Any], Tensor]  # of the average so far, the new weights, how many went into it
ManyAverages = Callable[[Any, Any, Any], None]  # the same for lists, writing into the first


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Return an `avg_fn` for `AveragedModel`: the exponential average `decay * average + (1 - decay) * weights`.

    Args:
        decay: the share of the average that is kept: between 0 and 1.

    Raises:
        ValueError: unless `decay` is between 0 and 1.

    Example::

        >>> import gradpack as torch
        >>> average = torch.optim.swa_utils.get_ema_avg_fn(0.75)
        >>> average(torch.tensor(4.0), torch.tensor(8.0), 1)
        tensor(5.)
    """
    _check_decay(decay)

    @no_grad()
    def averaged(average: Tensor, weights: Tensor, count: Any) -> Tensor:
        return decay * average + (1 - decay) * weights

    return averaged


def get_ema_multi_avg_fn(decay: float = 0.999) -> ManyAverages:
    """Return a `multi_avg_fn` for `AveragedModel`: exponential averages of many tensors, written into the first list.

    Args:
        decay: the share of the averages that is kept: between 0 and 1.

    Raises:
        ValueError: unless `decay` is between 0 and 1.

    Example::

        >>> import gradpack as torch
        >>> model = torch.nn.Linear(1, 1, bias=False)
        >>> _ = torch.nn.init.constant_(model.weight, 4.0)
        >>> average = torch.optim.swa_utils.get_ema_multi_avg_fn(0.75)
        >>> averaged = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=average)
        >>> averaged.update_parameters(model)  # the first time: a copy
        >>> _ = torch.nn.init.constant_(model.weight, 8.0)
        >>> averaged.update_parameters(model)
        >>> averaged.module.weight.item()
        5.0
    """
    _check_decay(decay)

    return _mover(lambda count: 1 - decay)


def get_swa_avg_fn() -> Average:
    """Return an `avg_fn` for `AveragedModel`: the mean of all weights so far.

    Example::

        >>> import gradpack as torch
        >>> average = torch.optim.swa_utils.get_swa_avg_fn()
        >>> average(torch.tensor(4.0), torch.tensor(7.0), 2)
        tensor(5.)
    """

    @no_grad()
    def averaged(average: Tensor, weights: Tensor, count: Any) -> Tensor:
        return average + (weights - average) / (count + 1)

    return averaged


def get_swa_multi_avg_fn() -> ManyAverages:
    """Return a `multi_avg_fn` for `AveragedModel`: means of all weights so far, written into the first list.

    Example::

        >>> import gradpack as torch
        >>> average = torch.optim.swa_utils.get_swa_multi_avg_fn()
        >>> averages = [torch.tensor(4.0), torch.tensor(1.0)]
        >>> average(averages, [torch.tensor(7.0), torch.tensor(1.0)], 2)  # they are means of two so far
        >>> averages
        [tensor(5.), tensor(1.)]
    """
    return _mover(lambda count: 1 / (count.to(float64) + 1) if isinstance(count, Tensor) else 1 / (count + 1))


def _check_decay(decay: float) -> None:
    if not 0 <= decay <= 1:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _mover(share_of: Callable[[Any], Any]) -> ManyAverages:
    """A function that moves averages in place, by a share that follows from their count."""

    @no_grad()
    def average_all(averages: Any, weights: Any, count: Any) -> None:
        for average, weight in zip(averages, weights, strict=True):
            _move(average, weight, share_of(count))

    return average_all


def _move(average: Tensor, weights: Tensor, share: Any) -> None:
    """Move `average` in place by `share` of the way to the weights; truncated for integers."""
    if isinstance(share, Tensor):
        share = share.to(average.dtype) if average.dtype in (float32, float64) else float(share)
    if average.is_floating_point() or average.is_complex():
        average.lerp_(weights, share)
    else:
        average.copy_(average + (weights - average) * share)


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those that the model has had.

    Args:
        model: the model to average; it is copied.
        device: where the averages are kept; where the model is, unless given.
        avg_fn: `avg_fn(average, weights, count)` gives the new average of one tensor.
        multi_avg_fn: `multi_avg_fn(averages, weights, count)` writes into the averages of tensors of one dtype.
        use_buffers: average the buffers, too, instead of taking them over.

    Without either function it is the mean of all weights.

    Raises:
        AssertionError: if both functions are given.

    Source: Izmailov et al., 2018.

    Example::

        >>> import gradpack as torch
        >>> model = torch.nn.Linear(1, 1, bias=False)
        >>> averaged = torch.optim.swa_utils.AveragedModel(model)
        >>> for value in 1.0, 2.0, 6.0:
        ...     _ = torch.nn.init.constant_(model.weight, value)
        ...     averaged.update_parameters(model)
        >>> averaged.module.weight.item(), averaged.n_averaged.item()
        (3.0, 3)
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: ManyAverages | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Take the present weights of `model` into the average; the first time, they are the average."""
        own, new = _tensors(self.module, self.use_buffers), _tensors(model, self.use_buffers)
        pairs = [(average.detach(), value.detach().to(average.device)) for average, value in zip(own, new, strict=True)]
        if not self.n_averaged:
            _copy(pairs)
        elif self.avg_fn is not None:
            _copy([(average, self.avg_fn(average, value, self.n_averaged)) for average, value in pairs])
        else:
            average_all = self.multi_avg_fn or get_swa_multi_avg_fn()
            groups: dict[Any, list[tuple[Tensor, Tensor]]] = {}
            for pair in pairs:
                groups.setdefault((pair[0].device, pair[0].dtype), []).append(pair)
            for (device, _), group in groups.items():
                averages, values = zip(*group, strict=True)
                average_all(list(averages), list(values), self.n_averaged.to(device))
        if not self.use_buffers:
            _copy(list(zip(self.module.buffers(), model.buffers(), strict=True)))
        self.n_averaged += 1


def _tensors(model: Module, with_buffers: bool) -> list[Tensor]:
    return [*model.parameters(), *(model.buffers() if with_buffers else ())]


def _copy(pairs: list[tuple[Any, Any]]) -> None:
    for target, source in pairs:
        target.detach().copy_(source)


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running means and variances of batch normalisation anew, in one pass over the data.

    Args:
        loader: batches: tensors, or lists and tuples that begin with one.
        model: whose layers to update. It is called with each batch, in training mode.
        device: where the batches are to be moved.

    Example::

        >>> import gradpack as torch
        >>> model = torch.nn.BatchNorm1d(1)
        >>> torch.optim.swa_utils.update_bn([torch.tensor([[1.0], [3.0]]), torch.tensor([[5.0], [7.0]])], model)
        >>> model.running_mean
        tensor([4.])
    """
    momenta = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not momenta:
        return
    training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None  # means of all batches
    for batch in loader:
        batch = batch[0] if isinstance(batch, list | tuple) else batch
        model(batch if device is None else batch.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """Takes the rate of each group to a fixed one in some epochs, along a line or a half wave of the cosine.

    Args:
        optimizer: whose rates to change.
        swa_lr: the rate to arrive at, or a list with one for each group.
        anneal_epochs: how many epochs it takes.
        anneal_strategy: "cos" or "linear".
        last_epoch: where to go on.

    Raises:
        ValueError: for another strategy, a negative number of epochs, or a list of another length.

    Example::

        >>> import gradpack as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = torch.optim.swa_utils.SWALR(optimizer, 0.5, anneal_epochs=2, anneal_strategy="linear")
        >>> rates = []
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     schedule.step()
        ...     rates += schedule.get_last_lr()
        >>> rates
        [0.75, 0.5, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = _for_each("swa_lr", optimizer, swa_lr)
        _check_strategy(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        self.anneal_epochs = anneal_epochs
        self._anneal_strategy = anneal_strategy
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        step = self._step_count - 1
        if not self.anneal_epochs:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            rate, last = group["lr"], group["swa_lr"]
            first = last if before == 1 else (rate - before * last) / (1 - before)  # what it has come from
            rates.append(last * now + first * (1 - now))
        return rates

    def _share(self, step: int) -> float:
        """Return the interpolation weight after a step."""
        return _annealed(self._anneal_strategy, max(0.0, min(1.0, step / max(1, self.anneal_epochs))))


give_all(globals())
explain_constructors([*globals().values()])
