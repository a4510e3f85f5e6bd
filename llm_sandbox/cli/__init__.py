"""The command line, `llm-sandbox`.

Only `app` is imported to read the arguments; each command imports its own module when it is called.
"""
