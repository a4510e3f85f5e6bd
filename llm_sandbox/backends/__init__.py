"""Backends: one folder for each engine that sandboxes run on, each with a `base.Backend`.

They may import the modules of layer 0 and `guest`, and not each other. Start reading at `base`.
"""
