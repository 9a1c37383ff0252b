"""`torch.backends.cpu`: not there.

Written by `python -m tools.stubs` from declarations and signatures.
"""



def get_cpu_capability() -> str: ...
