"""Measures the library against stock alternatives, side by side in one run: ``python -m benchmarks``."""
