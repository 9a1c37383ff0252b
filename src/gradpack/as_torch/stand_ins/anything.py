"""Settings of compilers, which may be set to anything: nothing reads them."""

__all__: list[str] = []
