"""Sessions: an interpreter in a sandbox, from open to close.

May import everything below: sandbox, kernel, backends, language handlers, artifacts, security, and
the words. Start reading at `session`.
"""
