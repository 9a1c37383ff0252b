"""Layer normalisation by its references, on parts of the rows: those stay in the cache, and all cores share them."""

from __future__ import annotations

from ...ops.nn import normalize

normalized_rows = vars(normalize.normalized_rows)["reference"]
normalized_rows_backward = vars(normalize.normalized_rows_backward)["reference"]
