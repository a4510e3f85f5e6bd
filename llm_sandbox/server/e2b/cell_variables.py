"""Environment variables for the length of one cell, whose values are never part of any code."""

import contextlib
import json
import re
import secrets
import shlex
from collections.abc import Iterator, Mapping

from llm_sandbox.exceptions import SandboxError, UnsupportedError, ValidationError
from llm_sandbox.server.contexts import Context

__all__ = ["cell_variables", "check_variables"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,255}")
_FOLDER = "/tmp"  # noqa: S108 - inside the sandbox

_PYTHON = """\
def __llm_sandbox_variables__(path):
    import json, os
    with open(path, encoding="utf-8") as file:
        given = json.load(file)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({name: os.environ.get(name) for name in given}, file)
    for name, value in given.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
__llm_sandbox_variables__(PATH)
del __llm_sandbox_variables__
"""
_JAVASCRIPT = """\
(() => {
  const fs = process.getBuiltinModule ? process.getBuiltinModule("fs") : require("fs");
  const given = JSON.parse(fs.readFileSync(PATH, "utf8"));
  const before = {};
  for (const [name, value] of Object.entries(given)) {
    before[name] = process.env[name] ?? null;
    if (value === null) delete process.env[name]; else process.env[name] = value;
  }
  fs.writeFileSync(PATH, JSON.stringify(before));
})();
"""
_BASH = """\
while IFS= read -r __name; do
  if [ -n "${!__name+x}" ]; then printf 'export %s=%q\\n' "$__name" "${!__name}"
  else printf 'unset %s\\n' "$__name"; fi
done < PATH.names > PATH.before
. PATH; mv PATH.before PATH; unset __name
"""
_SWAPS = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "bash": _BASH,
}
"""Code that exchanges the variables of the interpreter with those in a file."""


def check_variables(given: object) -> dict[str, str]:
    """Return the variables of a request.

    Raises:
        ValidationError: They are something else than names with texts.
    """
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(
        isinstance(name, str) and _NAME.fullmatch(name) and isinstance(value, str)
        for name, value in given.items()
    ):
        raise ValidationError("invalid env_vars: expected names with texts", parameter="env_vars")
    return given


@contextlib.contextmanager
def cell_variables(context: Context, variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables in an interpreter for a block, whose caller holds its lock.

    Raises:
        UnsupportedError: The language has no such variables, and there are some.
    """
    if not variables:
        yield
        return
    language = context.language
    swap = _SWAPS.get(language)
    if swap is None:
        raise UnsupportedError(f"env_vars for {language}", reason="set them in the code")
    files = context.session.sandbox.files
    path = f"{_FOLDER}/.llm-sandbox-variables-{secrets.token_hex(8)}"
    if language == "bash":
        text = "".join(f"export {name}={shlex.quote(text)}\n" for name, text in variables.items())
        files.write_text(f"{path}.names", "".join(f"{name}\n" for name in variables))
        code = swap.replace("PATH", path)
    else:
        text = json.dumps(variables)
        code = swap.replace("PATH", json.dumps(path))
    files.write_text(path, text, mode=0o600)
    try:
        context.session.run(code)
        try:
            yield
        finally:
            with contextlib.suppress(SandboxError):
                context.session.run(code)
    finally:
        for name in (path, f"{path}.names"):
            with contextlib.suppress(SandboxError):
                files.remove(name)
