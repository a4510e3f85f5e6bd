"""Chart reader for plotly figures in their JSON form; start at `figure`."""
