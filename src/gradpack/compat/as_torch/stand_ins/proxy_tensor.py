"""`torch.fx.experimental.proxy_tensor`: what asks whether a function is being traced hears that it is not."""

from __future__ import annotations

from .refuse import refusals

globals().update(refusals("fx.experimental.proxy_tensor", "make_fx ProxyTorchDispatchMode"))


def get_proxy_mode() -> None:
    """The mode that traces: None, as nothing is traced."""


__all__ = ["get_proxy_mode"]
