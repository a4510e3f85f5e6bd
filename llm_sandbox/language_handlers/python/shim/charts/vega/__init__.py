"""Chart reader for Vega-Lite specifications, which Altair writes: their data is binned, aggregated
and stacked as Vega does it. Start at `chart`.
"""
