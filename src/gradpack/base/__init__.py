"""What everything stands on: modes, dtypes, devices, errors. Imports nothing else of gradpack."""
