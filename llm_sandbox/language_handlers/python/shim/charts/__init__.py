"""Readers of charts: the data of a figure, read inside the sandbox.

Every library has its own reader; all of them build the record defined in ``record``.
"""
