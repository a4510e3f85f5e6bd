"""Built-in file formats: one module per family, loaded when a file of the family is found.

Each module recognises, measures and checks files by their bytes, with its own bounded parsers.
"""
