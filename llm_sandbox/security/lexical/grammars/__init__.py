"""Grammars of comments and strings, one module for each language."""
