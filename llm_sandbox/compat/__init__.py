"""Where the names of the reference are that programs written for it import.

What is the same thing here is an alias; what is not here is refused by name. `docs/migrating.md`
has what differs on purpose.

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
