"""Figures of plotly, from their JSON: start at `figure`."""
