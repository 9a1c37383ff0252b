"""Layers that would make modules of `nn.modules` too long: these import them, and are where they say they are."""
