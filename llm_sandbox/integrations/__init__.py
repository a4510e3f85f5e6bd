"""Integrations with agent frameworks: one module each, behind its extra, loaded on first use.

They share `tool`, which describes a session to a model and formats the answers.
"""
