"""Paths that programs written for the reference import from; see `llm_sandbox.compat`."""
