"""Doors for agents: one module per framework, each behind its extra, none loaded before it is used.

`tool` is what they share: how a session is described to a model, and what a model is answered.
"""
