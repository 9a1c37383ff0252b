from .compat.accelerator import *
