"""Engines on syntax trees of tree-sitter, one package for each language."""
