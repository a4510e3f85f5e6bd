"""Chart reader for figures of matplotlib, and of seaborn and pandas, which draw with it.

`calls` records the calls of plotting methods, `figure` reads the drawn artists.
"""
