"""Arguments of public functions: kinds, older orders, `axis` for `dim`, and messages."""
