from .base.futures import *
