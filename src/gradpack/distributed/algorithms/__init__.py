"""`torch.distributed.algorithms`: what `DistributedDataParallel` does with gradients."""
