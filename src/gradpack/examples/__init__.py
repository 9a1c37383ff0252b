"""Programs written against the public names, as a user would write them."""
