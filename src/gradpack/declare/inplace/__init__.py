"""In-place forms of operations, and the history of views that are written to."""
