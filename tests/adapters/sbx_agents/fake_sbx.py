#!/usr/bin/env python3
"""A stand-in for Docker's program ``sbx``, which needs a microVM and a sign-in at Docker's.

Written from Docker's reference of its commands, and from nothing of this library's: it knows the
sandboxes it made, the keys it was given and the rules it has, says what its own help says, and runs
what is to run in a sandbox here, in the sandbox's first folder. `FAKE_SBX_VERSION` is one of three
states of that reference: ``early`` (rules for all sandboxes only, no JSON), ``middle``
(``-g | SANDBOX``) and ``late`` (``--sandbox``, everything for all unless told otherwise).
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

STATE = Path(os.environ["FAKE_SBX_STATE"])
VERSION = os.environ.get("FAKE_SBX_VERSION", "middle")
EARLY, LATE = VERSION == "early", VERSION == "late"

CREATE_FLAGS = "--cpus int  --memory string  --name string  --quiet  --template string"
HELP = {
    "": "Manage AI coding agent sandboxes.\n\nUsage:\n  sbx COMMAND\n",
    "create": f"Usage:\n  sbx create [flags] AGENT PATH [PATH...]\n\nFlags:\n  {CREATE_FLAGS}\n",
    "run": (
        "Usage:\n  sbx run [flags] AGENT [PATH...] [-- AGENT_ARGS...]\n\nFlags:\n  --name string\n"
        if LATE
        else "Usage:\n  sbx run [flags] SANDBOX | AGENT [PATH...] [-- AGENT_ARGS...]\n\n"
        "Flags:\n  --name string\n" + ("  --no-remove\n" if EARLY else "")
    ),
    "ls": "Usage:\n  sbx ls [flags]\n\nFlags:\n  --quiet\n" + ("" if EARLY else "  --json\n"),
    "rm": "Usage:\n  sbx rm [SANDBOX...]\n\nFlags:\n  --all\n" + ("" if EARLY else "  --force\n"),
    "exec": "Usage:\n  sbx exec [flags] SANDBOX COMMAND\n\nFlags:\n  -i, --interactive\n",
    "diagnose": "Usage:\n  sbx diagnose [flags]\n\nFlags:\n"
    + ("  --json\n" if LATE else "  -o, --output string\n"),
    "secret set": "Usage:\n  sbx secret set SERVICE\n\nFlags:\n"
    + ("" if LATE else "  -g, --global\n")
    + ("" if EARLY else "  --oauth\n"),
    "secret ls": "Usage:\n  sbx secret ls\n\nFlags:\n  --service string\n"
    + ("" if LATE else "  -g, --global\n"),
    "policy allow network": "Usage:\n  sbx policy allow network "
    + (
        "RESOURCES [flags]\n"
        if EARLY
        else "RESOURCES [flags]\n\nFlags:\n  --sandbox string\n"
        if LATE
        else "[-g | SANDBOX] RESOURCES [flags]\n\nFlags:\n  -g, --global\n"
    ),
}
if not EARLY:
    HELP["stop"] = "Usage:\n  sbx stop SANDBOX...\n"


def load() -> dict:
    file = STATE / "state.json"
    empty = {"sandboxes": {}, "secrets": {}, "rules": {}}
    return json.loads(file.read_text()) if file.exists() else empty


def save(state: dict) -> None:
    (STATE / "state.json").write_text(json.dumps(state))


def fail(words: str) -> int:
    print(f"ERROR: {words}", file=sys.stderr)
    return 1


def flags(words: list[str], with_value: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """Options and the rest; an unknown option ends the program, as the real one does."""
    found, rest, it = {}, [], iter(words)
    for word in it:
        if word == "--":
            return found, [*rest, "--", *it]
        if not word.startswith("-"):
            rest.append(word)
        elif word in with_value:
            found[word] = next(it)
        else:
            found[word] = ""
    return found, rest


def refuse_unknown(verb: str, given: dict[str, str]) -> None:
    for flag in given:
        if flag not in HELP[verb].replace(",", " ").split():
            sys.exit(fail(f"unknown flag: {flag}"))


def create(words: list[str]) -> int:
    given, rest = flags(words, ("--cpus", "--memory", "--name", "--template"))
    refuse_unknown("create", given)
    state, (agent, place) = load(), rest
    name = given.get("--name") or f"{agent}-{Path(place).name}"
    if name in state["sandboxes"]:
        return fail(f"sandbox {name} already exists")
    home = STATE / "homes" / name
    home.mkdir(parents=True)
    state["sandboxes"][name] = {"agent": agent, "workspace": place, **given}
    save(state)
    return 0


def run(words: list[str]) -> int:
    given, rest = flags(words, ("--name",))
    refuse_unknown("run", given)
    state, inner = load(), rest[rest.index("--") + 1 :]
    name = given.get("--name") if LATE else rest[0]
    one = state["sandboxes"].get(name)
    if one is None:
        return fail(f"no such sandbox: {name}")
    argv = inner if one["agent"] == "shell" else [one["agent"], *inner]
    place = STATE / "homes" / name
    environment = {**os.environ, "HOME": str(place), "SBX_RULES": ",".join(rules_of(state, name))}
    process = subprocess.Popen(argv, cwd=one["workspace"], env=environment, start_new_session=True)
    # The microVM is no child of this program, and outlives it.
    (place / "running").write_text(str(process.pid))
    code = process.wait()
    (place / "running").unlink(missing_ok=True)
    if EARLY and "--no-remove" not in given:
        remove([name])
    return code


def rules_of(state: dict, name: str) -> list[str]:
    return [*state["rules"].get("*", []), *state["rules"].get(name, [])]


def listing(words: list[str]) -> int:
    given, _ = flags(words, ())
    refuse_unknown("ls", given)
    rows = [
        {"name": name, "agent": one["agent"], "status": "running", "workspace": one["workspace"]}
        for name, one in load()["sandboxes"].items()
    ]
    if "--json" in given:
        print(json.dumps({"sandboxes": rows}))
        return 0
    print(f"{'SANDBOX':<40}{'AGENT':<10}{'STATUS':<10}{'PORTS':<8}WORKSPACE")
    for row in rows:
        print(f"{row['name']:<40}{row['agent']:<10}{row['status']:<10}{'':<8}{row['workspace']}")
    return 0


def halt(name: str) -> None:
    file = STATE / "homes" / name / "running"
    if file.exists():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(int(file.read_text()), signal.SIGKILL)
        file.unlink()


def remove(words: list[str]) -> int:
    given, names = flags(words, ())
    refuse_unknown("rm", given)
    state = load()
    for name in names:
        if state["sandboxes"].pop(name, None) is None:
            return fail(f"no such sandbox: {name}")
        state["rules"].pop(name, None)
        halt(name)
        shutil.rmtree(STATE / "homes" / name)
    save(state)
    return 0


def execute(words: list[str]) -> int:
    given, rest = flags(words[:2], ())
    refuse_unknown("exec", given)
    name, argv = rest[0], words[len(given) + 1 :]
    if name not in load()["sandboxes"]:
        return fail(f"no such sandbox: {name}")
    environment = {**os.environ, "HOME": str(STATE / "homes" / name)}
    return subprocess.run(argv, env=environment, check=False).returncode


def diagnose(words: list[str]) -> int:
    wanted = ["--json"] if LATE else ["-o", "json"]
    if words != wanted:
        return fail("unknown flag")
    print(os.environ.get("FAKE_SBX_DIAGNOSIS", '{"checks": [{"name": "KVM", "status": "pass"}]}'))
    return 0


def secret_set(words: list[str]) -> int:
    given, (service,) = flags(words, ())
    refuse_unknown("secret set", given)
    state = load()
    state["secrets"][service] = "oauth" if "--oauth" in given else sys.stdin.read()
    save(state)
    return 0


def secret_list(words: list[str]) -> int:
    given, _ = flags(words, ("--service",))
    refuse_unknown("secret ls", given)
    names = [n for n in load()["secrets"] if given.get("--service", n) == n]
    if not names:
        print("No secrets found")
        return 0
    print(f"{'SCOPE':<10}{'TYPE':<10}NAME")
    for name in names:
        print(f"{'global':<10}{'service':<10}{name}")
    return 0


def allow(words: list[str]) -> int:
    given, rest = flags(words, ("--sandbox",))
    refuse_unknown("policy allow network", given)
    state = load()
    scope = given.get("--sandbox") or (rest.pop(0) if len(rest) == 2 else "*")
    if scope != "*" and scope not in state["sandboxes"]:
        return fail(f"no such sandbox: {scope}")
    state["rules"].setdefault(scope, []).extend(rest[0].split(","))
    save(state)
    return 0


def main(words: list[str]) -> int:
    with (STATE / "calls.jsonl").open("a") as log:
        log.write(json.dumps(words) + "\n")
    if words[-1:] == ["--help"]:
        text = HELP.get(" ".join(words[:-1]))
        print(text or "unknown command")
        return 0 if text else 1
    verbs = {
        ("create",): create,
        ("run",): run,
        ("ls",): listing,
        ("rm",): remove,
        ("exec",): execute,
        ("diagnose",): diagnose,
        ("secret", "set"): secret_set,
        ("secret", "ls"): secret_list,
        ("policy", "allow", "network"): allow,
    }
    if words[:1] == ["stop"] and not EARLY:
        halt(words[1])
        return 0
    for verb, call in verbs.items():
        if tuple(words[: len(verb)]) == verb:
            return call(words[len(verb) :])
    return fail(f"unknown command {words}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
