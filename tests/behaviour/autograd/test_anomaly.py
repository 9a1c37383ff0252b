"""Anomaly detection."""

from __future__ import annotations

import warnings

import pytest


@pytest.fixture
def detect(torch):
    def enter(*args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that it is slow
            return torch.autograd.detect_anomaly(*args, **kwargs)

    return enter


@pytest.fixture
def state(torch):
    yield lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    torch.set_anomaly_enabled(False, True)


def root_of_zero(torch):
    x = torch.tensor([0.0], requires_grad=True)
    y = (x * 0).sqrt()
    return x, y.mul(0)


NAN = r"^Function 'SqrtBackward0' returned nan values in its 0th output\.$"


def test_nan_in_a_gradient_is_an_error_and_shows_the_forward_call(torch, detect):
    with detect():
        x, y = root_of_zero(torch)
        with pytest.warns(UserWarning, match="^Error detected in SqrtBackward0. Traceback of forward call") as caught:
            with pytest.raises(RuntimeError, match=NAN):
                y.backward()
    (warning,) = caught
    text = str(warning.message)
    assert "Traceback of forward call that caused the error:\n" in text
    last = text[text.rindex("  File ") :]
    assert "test_anomaly" in last and "in root_of_zero\n" in last and "y = (x * 0).sqrt()\n" in last
    assert x.grad is None


def test_without_the_nan_check(torch, detect):
    with detect(check_nan=False):
        x, y = root_of_zero(torch)
        y.backward()
    assert x.grad.isnan().all()


def test_a_graph_that_was_made_before(torch, detect):
    x, y = root_of_zero(torch)
    with detect(), pytest.warns(UserWarning, match="No forward pass information available. Enable detect anomaly dur"):
        with pytest.raises(RuntimeError, match=NAN):
            torch.autograd.grad(y, x)


def test_a_graph_that_outlives_the_block(torch, detect):
    with detect():
        x, y = root_of_zero(torch)
    y.backward()
    assert x.grad.isnan().all()


def test_infinity_is_no_anomaly(torch, detect):
    x = torch.zeros(1, requires_grad=True)
    with detect():
        x.sqrt().backward()
    assert x.grad.isinf().all()


def test_which_gradient_is_nan(torch, detect):
    a, b = (torch.tensor([v], requires_grad=True) for v in (float("inf"), 0.0))
    with detect(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="'MulBackward0' returned nan values in its 1th output"):
            (a * b).backward(torch.zeros(1))


def test_an_exception_in_backward_shows_the_forward_call(make_function, leaf, detect):
    def fail(ctx, g):
        raise ValueError("stop")

    cls = make_function(None, fail, name="Fail")
    with detect():
        y = cls.apply(leaf(1))
        with pytest.warns(UserWarning, match="Error detected in FailBackward. Traceback of") as caught:
            with pytest.raises(ValueError, match="stop"):
                y.backward()
    assert "y = cls.apply(leaf(1))" in str(caught[0].message)


def test_nan_from_a_custom_function(make_function, leaf, detect):
    with detect():
        y = make_function(None, lambda ctx, g: g * float("nan")).apply(leaf(1))
        with pytest.warns(UserWarning, match="Error detected in MyBackward"):
            with pytest.raises(RuntimeError, match="'MyBackward' returned nan values in its 0th output"):
                y.backward()


def test_an_exception_in_a_hook(leaf, detect):
    def hook(*args):
        raise ValueError("hook")

    with detect():
        y = leaf(1) * 2
        y.register_hook(hook)
        with pytest.warns(UserWarning, match="Error detected in MulBackward0"), pytest.raises(ValueError, match="hook"):
            y.backward()
        x = leaf(1)
        x.register_post_accumulate_grad_hook(hook)
        with pytest.warns(UserWarning, match="Error detected in torch::autograd::AccumulateGrad"):
            with pytest.raises(ValueError, match="hook"):
                (x * 2).backward()


def test_nan_from_hooks(leaf, detect):
    with detect():
        x = leaf(1)
        x.register_hook(lambda g: g * float("nan"))  # nothing runs after it
        (x * 2).backward()
        assert x.grad.isnan().all()
        y = leaf(1) * 2
        y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * float("nan"), *inputs[1:]))
        with pytest.warns(UserWarning, match="Error detected in MulBackward0"):
            with pytest.raises(RuntimeError, match="'MulBackward0' returned nan values"):
                y.backward()


def test_the_calls_that_led_to_it(torch, make_function, leaf, detect):
    def fail(ctx, g):
        raise RuntimeError("stop")

    inner = make_function(None, fail, name="Inner")
    outer = make_function(None, lambda ctx, g: inner.apply(g), name="Outer")
    with detect():
        x = leaf(1)
        y = outer.apply(x)
        (g,) = torch.autograd.grad(y, x, torch.ones(1, requires_grad=True), create_graph=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises(RuntimeError, match="stop"):
                g.backward()
    first, second = (str(w.message) for w in caught)
    assert first.startswith("Error detected in InnerBackward. Traceback of forward call that caused the error:\n")
    assert "torch.autograd.grad(y, x" in first
    assert second.startswith(
        "\n\nPrevious calculation was induced by OuterBackward. Traceback of forward call that induced the previous "
        "calculation:\n"
    )
    assert "y = outer.apply(x)" in second


def test_what_is_noted_at_a_node(torch, leaf, detect):
    x = leaf(1)
    with detect():
        y = x.pow(3)
        (g,) = torch.autograd.grad(y, x, create_graph=True)
    assert list(y.grad_fn.metadata) == ["traceback_"]
    trace = y.grad_fn.metadata["traceback_"]
    assert type(trace) is list and "y = x.pow(3)" in trace[-1]
    assert g.grad_fn.metadata["parent_"] is y.grad_fn
    assert (x * 2).grad_fn.metadata == {}


def test_the_hint_of_a_write_to_a_saved_tensor(torch, leaf, detect):
    for block, hint in (
        (detect(), "the backtrace further above shows"),
        (torch.enable_grad(), "enable anomaly detect"),
    ):
        with block, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = leaf(1).exp()
            y.add_(1)
            with pytest.raises(RuntimeError, match=f"modified by an inplace operation.*Hint: {hint}"):
                y.backward()


def test_it_says_that_it_is_slow(torch):
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled. This mode will increase the runtime"):
        torch.autograd.detect_anomaly()
    assert not torch.is_anomaly_enabled()  # before it is entered


def test_blocks_restore_what_was(torch, detect, state):
    assert state() == (False, True)
    with detect(check_nan=False):
        assert state() == (True, False)
        with torch.autograd.set_detect_anomaly(False):
            assert state() == (False, True)
        assert state() == (True, False)
    assert state() == (False, True)
    with pytest.raises(KeyError), detect():
        raise KeyError
    assert state() == (False, True)


def test_switches(torch, state):
    block = torch.autograd.set_detect_anomaly(True, False)
    assert state() == (True, False) and block.prev is False and block.prev_check_nan is True
    with block:
        assert state() == (True, False)
    assert state() == (False, True)
    torch.set_anomaly_enabled(True)
    assert state() == (True, True)
    torch.set_anomaly_enabled(False, check_nan=False)
    assert state() == (False, False)
    with pytest.raises(
        TypeError, match=r"set_anomaly_enabled\(\): argument 'enabled' \(position 1\) must be bool, not i"
    ):
        torch.autograd.set_detect_anomaly(1)
    assert state() == (False, False)


def test_names(torch):
    assert sorted(torch.autograd.anomaly_mode.__all__) == ["detect_anomaly", "set_detect_anomaly"]
    assert torch.autograd.anomaly_mode.detect_anomaly is torch.autograd.detect_anomaly
