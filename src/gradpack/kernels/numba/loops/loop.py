"""How loops are compiled: the only module beside the loops themselves that names Numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import sha1
from pathlib import Path
from typing import Any

from numba import njit, types
from numba.extending import intrinsic

from ..machine_code import keep

Function = Callable[..., Any]

# Machine code holds what a loop calls, so it is kept by what all files here say.
_TEXTS = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
STATE = sha1(_TEXTS, usedforsecurity=False).hexdigest()[:12]


def compiled(function: Function, fastmath: Any, nogil: bool = True, **options: Any) -> Function:
    made: Function = njit(nogil=nogil, error_model="numpy", fastmath=fastmath, **options)(function)
    keep(made, STATE)
    return made


# What is called by its address only: without the code by which Python would call it.
by_address = partial(compiled, no_cpython_wrapper=True, no_cfunc_wrapper=True)
# What is short keeps the lock of the interpreter: another thread that gets it may hold it for milliseconds.
short = partial(compiled, fastmath=False, nogil=False)
# A loop over elements. A product and the sum after it may be rounded once, which only makes it more precise.
loop = partial(compiled, fastmath={"contract"})
# A loop that rounds after each operation, as passes of NumPy do: its results have the same bits.
exact = partial(compiled, fastmath=False)
# A reduction, in any order. NumPy sums pairwise, which is no less precise, so callers sum partial results.
summing = partial(compiled, fastmath={"contract", "reassoc"})
# A scalar function that loops call. It is inlined.
inlined = partial(compiled, fastmath={"contract"})


@intrinsic  # type: ignore[untyped-decorator]
def use_widest_vectors(typing: Any) -> Any:
    """Let the compiler make vectors of 512 bits of the loops in this function, where the processor has them.

    It makes them half as long by default. Long loops over what takes computing take 0.7 to 0.85 of the time with these;
    rows of other lengths than multiples of 64 take more, as what is left of each is longer.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')  # none that llvmlite knows
        return context.get_dummy_value()

    return types.void(), code
