from .compat.cuda import *
