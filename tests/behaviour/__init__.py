"""What torch.autograd does, written once and run on gradpack, and on torch where it is installed."""
