"""Chart reader for Bokeh documents; start at `figure`."""
