"""Fourier transforms, spectrograms and windows of signals."""
