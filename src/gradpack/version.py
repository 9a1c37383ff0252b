"""`torch.version`: which version this is, and what it was built with."""

from . import __version__

cuda = hip = xpu = git_version = None
debug = False

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]
