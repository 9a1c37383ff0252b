"""The bottom layer: modes, dtypes, devices, errors. Imports nothing else of gradpack."""
