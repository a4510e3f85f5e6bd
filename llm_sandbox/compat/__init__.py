"""Compatibility with the reference: the locations of the names that its programs import.

Equivalent names are aliases; unsupported names are refused with an explanation. `docs/migrating.md`
lists intended differences.

========================================  ======================================================
there                                     here
========================================  ======================================================
``InteractiveSandboxSession, KernelType`` `llm_sandbox.interactive`
``llm_sandbox.pool``                      the same path, on sandboxes that serve one session each
``llm_sandbox.session``'s classes          the top of the package
``SessionConfig``, ``core.config``        `llm_sandbox.session.config`
``core.session_base``                     `llm_sandbox.session.session`
``DefaultImage``                          `llm_sandbox.const`
``register_backend`` and its kin          `llm_sandbox.compat.backends`
``security.policy``                       `llm_sandbox.security.models`
``security.package_validators``           the same path, on each language handler's own check
``language_handlers.*_handler``           `llm_sandbox.language_handlers.<language>`
exceptions of other names                 `llm_sandbox.exceptions.aliases`
``mcp_server``, ``llm-sandbox-mcp``       `llm_sandbox.mcp_server.server`
========================================  ======================================================
"""
