"""Tests of operations: one generic file for what every declaration claims, others for single ones."""
