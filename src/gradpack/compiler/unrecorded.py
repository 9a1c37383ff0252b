"""The functions that no program may call: `torch.compiler.disable` adds to them."""

from __future__ import annotations

from typing import Any

DISABLED: dict[int, Any] = {}  # their code, by its identity
