"""The built-in file formats: one file a family, loaded when a file of the family is met.

Each recognises, measures and checks files by their bytes, with bounded parsers of its own.
"""
