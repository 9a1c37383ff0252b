"""What `autograd.profiler` is made of: recording, events, tables, traces."""
