"""The parts of `torch.utils.checkpoint`: frames of segments, their log, policies of selection."""
