from .compat.as_torch.install import *
