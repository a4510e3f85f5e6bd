"""API of E2B, as its SDKs for Python and JavaScript speak it.

The control plane creates sandboxes. In each there are two services, told apart by port: `envd`
for files and programs, and the interpreter.
"""

__all__: list[str] = []
