"""`torch.__config__`: what the library was built with. Here that is NumPy."""

__name__ = "gradpack.__config__"


def show() -> str:
    """A text with the versions of what computes."""
    import numpy as np

    from .. import __version__

    return f"gradpack {__version__}\n  - NumPy {np.__version__}"


def parallel_info() -> str:
    """A text with the numbers of threads."""
    from ..base.threads import get_num_threads
    from .top_level import get_num_interop_threads

    return f"gradpack threads: {get_num_threads()}\n  interop: {get_num_interop_threads()}"
