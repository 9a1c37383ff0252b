"""Worker processes of `DataLoader`, of which there are none."""


def get_worker_info() -> None:
    """Return None: data is always loaded in the main process, where torch returns None as well.

    Example::

        >>> from gradpack.utils.data import get_worker_info
        >>> get_worker_info() is None
        True
    """
