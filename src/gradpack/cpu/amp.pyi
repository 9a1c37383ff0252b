from ..compat.cpu_amp import *
