"""Measurements of the library against stock alternatives in one run: ``python -m benchmarks``."""
