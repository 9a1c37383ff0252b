"""The parts of `autograd.profiler`: recording, events, tables, traces."""
