"""Figures of matplotlib, and of seaborn and pandas, which draw with it.

`calls` remembers what was asked for, `figure` reads what was drawn.
"""
