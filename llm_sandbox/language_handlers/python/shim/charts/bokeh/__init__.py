"""Documents of Bokeh: start at `figure`."""
