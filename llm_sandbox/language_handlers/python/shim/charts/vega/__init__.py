"""Specifications of Vega-Lite, which Altair writes: their data is binned, aggregated and stacked as
Vega does it. Start at `chart`.
"""
