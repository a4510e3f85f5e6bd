"""Import paths of programs written for the reference; see `llm_sandbox.compat`."""
