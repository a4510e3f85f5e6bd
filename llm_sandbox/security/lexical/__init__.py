"""Lexical analysis of code, without grammars: comments, strings, words."""
