"""Results of runs and commands: streams, outputs, plots, findings, and the bytes they hold.

`llm_sandbox.data` is the public name of what callers use.
"""
