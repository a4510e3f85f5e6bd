"""HTTP server: sandboxes for programs of any language, over wire APIs that existing clients speak.

`fleet` owns the sandboxes of all tenants; each API is a translation over it without state of its
own, in a folder or a module: `e2b`, `jupyter`, `sandbox_fusion`, `piston`, `openai_containers`.
`router` decides which of them answers, and `service` runs them. Needs the extra ``server``.
"""

__all__: list[str] = []
