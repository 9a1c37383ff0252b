"""Settings of compilers: they accept any value, and have no effect."""

__all__: list[str] = []
