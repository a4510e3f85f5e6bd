"""Engines that read programs by their syntax trees, one module for each language."""
