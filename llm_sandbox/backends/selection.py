"""Selection of the backend when the caller names none."""

import contextlib
import copy
from importlib.util import find_spec

from llm_sandbox.backends.base import Backend, Network
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    SandboxError,
    ToolchainNotFoundError,
)
from llm_sandbox.host.distribution import install_command
from llm_sandbox.settings import get_settings
from llm_sandbox.toolchain import Toolchain

__all__ = ["AUTOMATIC", "choose", "choose_engine", "prepare", "resolve"]

# Bubblewrap opens a session many times sooner than a container starts, and both share the host's
# kernel (ADR 0010). `local` isolates nothing and never stands here.
AUTOMATIC = (SandboxBackend.BUBBLEWRAP, SandboxBackend.DOCKER, SandboxBackend.PODMAN)
"""Candidates, in order."""

_ENGINES = (SandboxBackend.DOCKER, SandboxBackend.PODMAN)


def choose(
    lang: str = SupportedLanguage.PYTHON, needs: Toolchain | None = None
) -> tuple[Backend, str]:
    """Choose the backend: what LLM_SANDBOX_BACKEND names, else the first that works here.

    An engine works here if it answers at once and has the language's image already: an automatic
    choice pulls and builds nothing.

    Args:
        lang: Language of the code.
        needs: The programs that run it; None for what every sandbox has.

    Returns:
        The backend, and why it is this one, in a sentence.

    Raises:
        BackendUnavailableError: No backend works here; the error is that of the first candidate,
            with those of the others in its hint.
        UnsupportedBackendError: LLM_SANDBOX_BACKEND names one that this version lacks.
    """
    named = get_settings().backend
    if named is not None:
        return _checked(get_backend(str(named)), lang, needs), f"LLM_SANDBOX_BACKEND names {named}"
    failures: list[BackendUnavailableError] = []
    for name in AUTOMATIC:
        try:
            advantage = _check_engine(name, lang) if name in _ENGINES else ""
            backend = _checked(get_backend(str(name)), lang, needs)
            backend.check()
        except BackendUnavailableError as error:
            failures.append(error)
            continue
        passed_over = "".join(f"; {failure.backend} does not work here" for failure in failures)
        return backend, f"{name} is the first that works here{advantage}{passed_over}"
    raise _none_works(failures)


def _checked(backend: Backend, lang: str, needs: Toolchain | None) -> Backend:
    """Return a backend whose sandboxes can run the language.

    Raises:
        ToolchainNotFoundError: They use programs of this computer, which lacks those.
    """
    missing = needs.missing(backend.search_path) if needs and backend.search_path else []
    if needs is not None and missing:
        raise ToolchainNotFoundError(
            str(lang),
            missing,
            f"in {backend.search_path} of this computer",
            backend=backend.name,
            hint=f"install it: apt-get install {' '.join(needs.packages)}",
        )
    return backend


def _check_engine(name: str, lang: str) -> str:
    """Refuse an engine that would make the caller wait; return its advantage in words.

    Raises:
        BackendUnavailableError: It does not answer at once, or lacks the image or its client.
    """
    from llm_sandbox.backends.engine_probe import permission_hint, probe_engine
    from llm_sandbox.backends.recipes import image_name

    image = image_name(str(lang))
    finding = probe_engine(name, image)
    if not finding.answers:
        where = f" at {finding.address}" if finding.address else ""
        raise BackendUnavailableError(
            f"no {name} engine answers{where}: {finding.problem}",
            backend=name,
            hint=permission_hint(
                name,
                finding.problem,
                f"start it, and build its image: llm-sandbox images build {lang} --engine {name}",
            ),
        )
    if not finding.has_image:
        raise BackendUnavailableError(
            f"{name} has no image {image}",
            backend=name,
            hint=f"llm-sandbox images build {lang} --engine {name}",
        )
    _check_client(name)
    return f", and has the image {image}"


def _check_client(name: str) -> None:
    """Refuse an engine whose client is missing.

    Raises:
        BackendUnavailableError: Its client is not installed.
    """
    if find_spec("docker") is None:
        raise BackendUnavailableError(
            f"the client of {name} is not installed",
            backend=name,
            hint=install_command(name),
        )


def choose_engine(
    option: str, image: str | None = None, lang: str = SupportedLanguage.PYTHON
) -> tuple[Backend, str]:
    """Choose the backend for an option of container engines.

    It is that of LLM_SANDBOX_BACKEND; else the first engine that answers and has the image; else
    the first that answers, which then pulls or builds the image.

    Args:
        option: The option as text, such as ``image=``.
        image: The image; None for the language's own.
        lang: Language of the code.

    Returns:
        The backend, and why it is this one, in a sentence.

    Raises:
        BackendUnavailableError: No engine answers, or its client is not installed.
        UnsupportedBackendError: LLM_SANDBOX_BACKEND names one that this version lacks.
    """
    named = get_settings().backend
    if named is not None:
        return get_backend(str(named)), f"LLM_SANDBOX_BACKEND names {named}"
    from llm_sandbox.backends.engine_probe import EngineStatus, probe_engine
    from llm_sandbox.backends.recipes import image_name

    answering: list[EngineStatus] = []
    silent: list[EngineStatus] = []
    for engine in _ENGINES:
        finding = probe_engine(str(engine), image or image_name(str(lang)))
        (answering if finding.answers else silent).append(finding)
        if finding.has_image:
            break
    if not answering:
        tried = "; ".join(f"{one.engine}: {one.problem}" for one in silent)
        raise BackendUnavailableError(
            f"{option} needs a container engine, and none answers here ({tried})",
            hint=f"start Docker or Podman (llm-sandbox doctor says what there is), or leave out "
            f"{option.partition('=')[0]} to use a backend without containers",
        )
    chosen = next((one for one in answering if one.has_image), answering[0]).engine
    _check_client(chosen)
    return get_backend(chosen), f"{option} needs a container engine, and {chosen} answers"


def _none_works(failures: list[BackendUnavailableError]) -> BackendUnavailableError:
    error = copy.copy(failures[0])
    others = [f"{other.backend}: {other.message}; {other.hint}" for other in failures[1:]]
    error.hint = "\n".join(filter(None, (error.hint, *(f"or {words}" for words in others))))
    return error


def resolve(
    backend: SandboxBackend | str | Backend | None,
    lang: str = SupportedLanguage.PYTHON,
    needs: Toolchain | None = None,
    *,
    option: str | None = None,
    image: str | None = None,
    client: object = None,
) -> tuple[Backend, str]:
    """Return the backend that a caller means, and the reason in a sentence.

    Args:
        backend: The backend, its name, or None for the first that works here.
        lang: Language of the code.
        needs: Programs that run it; None for those of every sandbox.
        option: Option of container engines that the caller uses, as text; None for none.
        image: The image that was named, if any.
        client: Client of an engine, which determines the engine.

    Raises:
        ToolchainNotFoundError: Its sandboxes use programs of this computer, which lacks those.
        BackendUnavailableError: No backend was named, and none works here.
        UnsupportedBackendError: No backend has the name.
    """
    if backend is None and client is not None and get_settings().backend is None:
        module = type(client).__module__.partition(".")[0]
        engine = SandboxBackend.PODMAN if module == "podman" else SandboxBackend.DOCKER
        return get_backend(str(engine)), f"the client is one of {engine}"
    if backend is None:
        return choose(lang, needs) if option is None else choose_engine(option, image, lang)
    if isinstance(backend, Backend):
        return _checked(backend, lang, needs), "it was given"
    return _checked(get_backend(str(backend)), lang, needs), "it was named"


def prepare(backend: SandboxBackend | str | Backend | None, network: Network) -> None:
    """Start, in the likely result of `resolve`, what sessions need.

    Returns at once. Errors are reported when the backend is used.
    """
    if isinstance(backend, Backend):
        backend.prepare(network)
        return
    with contextlib.suppress(SandboxError):
        get_backend(str(backend or get_settings().backend or AUTOMATIC[0])).prepare(network)
