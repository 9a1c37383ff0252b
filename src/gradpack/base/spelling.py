"""How this library is called in what it prints: `gradpack.float32`, and `torch.float32` while it answers for torch."""

library = "gradpack"
