"""The parts of torch that are here only so that programs written for torch run.

`public_modules` is the table of modules that are imported under another name than that of their file. Nothing else in
the library imports from here: `gradpack/__init__.py` looks names up, and `gradpack run` installs `as_torch`.
"""
