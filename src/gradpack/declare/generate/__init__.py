"""The text that is generated for an operation, and loops over large arrays."""
