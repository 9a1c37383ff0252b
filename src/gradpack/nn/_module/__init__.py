"""The parts that `Module` is made of: finding, moving, saving and loading, and hooks."""
