"""A few names of `torch._C` that packages ask for."""


def _log_api_usage_once(event: str) -> None:
    """Do nothing: API usage is not logged."""


def _are_functorch_transforms_active() -> bool:
    """Whether a transform is under way."""
    from ....base.modes import MODE

    return bool(getattr(MODE.get(), "levels", None))


__all__: list[str] = []
