"""Parts of torch that programs mention and gradpack has no meaning for: what they are told, and what is refused."""
