"""New tensors from data, values and other libraries, and conversions of dtype and device."""
