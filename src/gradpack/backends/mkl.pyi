"""`torch.backends.mkl`: not there.

Written by `python -m tools.stubs` from declarations and signatures.
"""



def is_available() -> bool: ...
