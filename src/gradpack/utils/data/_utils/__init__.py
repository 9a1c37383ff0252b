"""The parts of `DataLoader`: how examples become batches."""
