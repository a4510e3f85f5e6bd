"""Sessions with the options of pods."""

from __future__ import annotations

import pytest

from llm_sandbox import Sandbox, create_session
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend, KubernetesOptions
from llm_sandbox.backends.kubernetes.options import PodOptions
from llm_sandbox.exceptions import SecurityError, UnsupportedError, ValidationError
from llm_sandbox.kubernetes import SandboxKubernetesSession


@pytest.mark.cluster
def test_the_session_class_of_the_reference(backend: KubernetesBackend) -> None:
    """The reference's parameters are honoured: client, namespace, variables, manifest, workdir."""
    limits = {"memory": "512Mi", "cpu": "1"}
    with SandboxKubernetesSession(
        client=backend.engine_client(),
        kube_namespace=backend.pods.namespace,
        env_vars={"COLOUR": "blue"},
        pod_manifest={
            "metadata": {"labels": {"team": "one"}},
            "spec": {"containers": [{"resources": {"limits": limits}}]},
        },
        workdir="/work",
    ) as session:
        result = session.run("import os; print(os.environ['COLOUR'], os.getcwd())")
        pod = backend.pods.find(session.sandbox.id)

    assert "blue /work\n" == result.stdout
    assert pod is not None
    assert "one" == pod["metadata"]["labels"]["team"]
    assert limits == pod["spec"]["containers"][0]["resources"]["limits"]


@pytest.mark.cluster
def test_a_figure_and_libraries(backend: KubernetesBackend) -> None:
    """Figures come back, and a library that is installed is imported."""
    with create_session(backend) as session:
        session.run("x = 20")
        figure = session.run("import matplotlib.pyplot as plt; plt.plot([x, 2]); plt.show()")

    assert 1 == len(figure.plots)


@pytest.mark.cluster
def test_the_runtime_comes_from_its_own_image(backend: KubernetesBackend) -> None:
    """An init container copies the supervisor from another image into the pod."""
    options = PodOptions(runtime_image=f"llm-sandbox/python:{_version()}")
    with Sandbox.create(backend=KubernetesBackend(options)) as sandbox:
        assert "in\n" == sandbox.sh("echo in").collect().stdout


@pytest.mark.cluster
def test_process_1_can_be_another_user() -> None:
    """With the profile ``baseline`` programs have a user of their own, which has a name."""
    backend = KubernetesBackend(PodOptions(profile="baseline"))
    with Sandbox.create(backend=backend) as sandbox:
        assert "65532\n" == sandbox.check("id", "-u").stdout
        assert "cannot\n" == sandbox.check("sh", "-c", "kill -0 1 || echo cannot").stdout


@pytest.mark.cluster
def test_a_detached_sandbox_is_found_by_its_name(backend: KubernetesBackend) -> None:
    """A sandbox with a name is found again, and its pod ends with it."""
    made = Sandbox.create(backend="kubernetes", name="kept-in-a-pod", timeout=300)
    try:
        made.files.write_text("note", "here")
        found = Sandbox.from_name("kept-in-a-pod")
        assert "here" == found.files.read_text("note")
        found.detach()
    finally:
        made.terminate()


def _version() -> str:
    from llm_sandbox import __version__

    return __version__


# --- without a cluster


def test_options_that_pods_cannot_honour_are_refused() -> None:
    """An option of another engine is refused by its name."""
    backend = KubernetesBackend()
    for name, value in (("dockerfile", "Dockerfile"), ("commit_container", True)):
        with pytest.raises(UnsupportedError, match=name):
            create_session(backend, **{name: value})
    with pytest.raises(UnsupportedError, match="dns"):
        create_session(backend, runtime_configs={"dns": ["192.0.2.1"]})
    with pytest.raises(UnsupportedError, match="pod_manifest"):
        create_session("bubblewrap", pod_manifest={"spec": {}})
    with pytest.raises(SecurityError, match="hostNetwork"):
        create_session(backend, pod_manifest={"spec": {"hostNetwork": True}})


def test_options_of_a_backend_are_kept() -> None:
    """An image and a namespace are added to the options of a backend that was given."""
    backend = KubernetesBackend(PodOptions(runtime_class="gvisor"))
    changed = backend.with_image("mine:1").with_pods(kube_namespace="one")

    assert isinstance(changed, KubernetesBackend)
    assert (
        KubernetesOptions(image="mine:1", pod=PodOptions(runtime_class="gvisor", namespace="one"))
        == changed.options
    )
    with pytest.raises(ValidationError, match="client"):
        KubernetesBackend(client=object()).ping()
