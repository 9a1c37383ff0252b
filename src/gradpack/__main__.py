"""`python -m gradpack`: the same as the command `gradpack`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
