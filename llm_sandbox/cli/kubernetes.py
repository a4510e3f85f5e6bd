"""`llm-sandbox kubernetes`: a namespace of a cluster, prepared, checked, listed and cleaned up."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from llm_sandbox.cli.exit_codes import exit_codes
from llm_sandbox.cli.grammar import Command, Group, Option, Options
from llm_sandbox.cli.render import in_option_words
from llm_sandbox.cli.sandboxes import DryRunOption, JsonOption, OlderThanOption
from llm_sandbox.host.terminal import strip_controls

if TYPE_CHECKING:
    from llm_sandbox.backends.kubernetes.backend import KubernetesBackend
    from llm_sandbox.backends.kubernetes.options import PodOptions
    from llm_sandbox.backends.kubernetes.warm_pool import WarmPool

__all__ = ["KUBERNETES", "ClusterOptions", "ProfileOption", "check", "gc", "manifests", "ps"]


class ClusterOptions(Options):
    """Cluster and namespace; without them, those of ``kubectl``."""

    namespace: Annotated[
        str | None,
        Option(
            "--namespace", "-n", help="The namespace; without it, the context's.", metavar="NAME"
        ),
    ] = None
    context: Annotated[
        str | None,
        Option(
            "--context", help="Context of the kubeconfig; without it, the current.", metavar="NAME"
        ),
    ] = None
    kubeconfig: Annotated[
        str | None,
        Option("--kubeconfig", help="The kubeconfig; without it, KUBECONFIG's.", metavar="FILE"),
    ] = None


ProfileOption = Annotated[
    str,
    Option("--profile", help="Pod Security profile: restricted, or baseline.", metavar="NAME"),
]


def manifests(
    namespace: Annotated[
        str, Option("--namespace", "-n", help="Name of the namespace.", metavar="NAME")
    ] = "llm-sandbox",
    pods: Annotated[int, Option("--pods", help="Most pods at once.", metavar="N")] = 50,
    cpus: Annotated[
        float, Option("--cpus", help="Most CPUs that pods request together.", metavar="N")
    ] = 16.0,
    memory: Annotated[
        str, Option("--memory", help="Most memory that pods use together.", metavar="SIZE")
    ] = "256g",
    profile: ProfileOption = "restricted",
    gc_image: Annotated[
        str | None,
        Option(
            "--gc-image",
            help="Image with this library, of a CronJob that removes what nobody owns. Clients "
            "do that as well, when they open a sandbox.",
            metavar="IMAGE",
        ),
    ] = None,
    warm_pool: Annotated[
        str | None,
        Option(
            "--warm-pool",
            help="Name of a SandboxWarmPool of agent-sandbox, which the cluster has to have.",
            metavar="NAME",
        ),
    ] = None,
    warm_pods: Annotated[
        int | None, Option("--warm-pods", help="Pods in that pool (4).", metavar="N")
    ] = None,
    warm_image: Annotated[
        str | None,
        Option("--warm-image", help="Image of that pool; without it, Python's.", metavar="IMAGE"),
    ] = None,
) -> None:
    """Print what a namespace for sandboxes needs, as YAML for `kubectl apply -f -`.

    The namespace, its quota, a network policy that denies everything, and a service account with a
    role that has the rights of this library and no other.
    """
    with exit_codes():
        from llm_sandbox.exceptions import MissingDependencyError
        from llm_sandbox.limits import Limits

        try:
            import yaml
        except ImportError:
            raise MissingDependencyError(
                "manifests are written with pyyaml", extra="kubernetes"
            ) from None
        from llm_sandbox.backends.kubernetes.namespace_objects import namespace_objects

        objects = namespace_objects(
            namespace,
            pods=pods,
            cpus=cpus,
            memory_bytes=Limits.parse_size(memory, "memory"),
            profile=_pod_options(profile=profile).profile,
            gc_image=gc_image,
            warm_pool=_warm_pool(warm_pool, warm_pods, warm_image),
        )
    print(yaml.safe_dump_all(objects, sort_keys=False), end="")


def _warm_pool(name: str | None, pods: int | None, image: str | None) -> "WarmPool | None":
    from llm_sandbox.backends.kubernetes.warm_pool import WarmPool
    from llm_sandbox.backends.recipes import image_name
    from llm_sandbox.exceptions import ValidationError

    if name is not None:
        return WarmPool(name, image or image_name("python"), 4 if pods is None else pods)
    for option, value in (("warm_pods", pods), ("warm_image", image)):
        if value is not None:
            raise ValidationError(
                f"{option} is of a warm pool, and there is none",
                parameter=option,
                hint="name the pool with warm_pool=",
            )
    return None


def _pod_options(**given: Any) -> "PodOptions":
    from llm_sandbox.backends.kubernetes.options import PodOptions

    return PodOptions(**given)


def _backend(
    cluster: ClusterOptions, image: str | None = None, **given: Any
) -> "KubernetesBackend":
    from llm_sandbox.backends.kubernetes.backend import KubernetesBackend, KubernetesOptions

    pod = _pod_options(
        namespace=cluster.namespace,
        context=cluster.context,
        kubeconfig=cluster.kubeconfig,
        **given,
    )
    return KubernetesBackend(KubernetesOptions(image=image, pod=pod))


def check(
    cluster: ClusterOptions,
    image: Annotated[
        str | None, Option("--image", help="Image of the pods.", metavar="IMAGE")
    ] = None,
    runtime_image: Annotated[
        str | None,
        Option("--runtime-image", help="Image that pods get the supervisor from.", metavar="IMAGE"),
    ] = None,
    runtime_class: Annotated[
        str | None, Option("--runtime-class", help="RuntimeClass of the pods.", metavar="NAME")
    ] = None,
    profile: ProfileOption = "restricted",
    warm_pool: Annotated[
        str | None,
        Option("--warm-pool", help="SandboxWarmPool to claim a pod of.", metavar="NAME"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether sandboxes work in a namespace, and what to type where they do not.

    Rights, admission, runtime classes, the pull of the image, and the enforcement of network
    policies. Two pods are created, and deleted again.
    """
    with exit_codes(as_json=as_json):
        backend = _backend(
            cluster,
            image,
            runtime_image=runtime_image,
            runtime_class=runtime_class,
            profile=profile,
            warm_pool=warm_pool,
        )
        from llm_sandbox.backends.kubernetes.check import check_namespace

        found = []
        for finding in check_namespace(backend):
            found.append(finding)
            if not as_json:
                words = strip_controls(" ".join(finding.text.split()))
                print(f"{finding.what:10}{finding.state:9}{words}", flush=True)
                if finding.hint:
                    print(f"{'':10}{'':9}{strip_controls(in_option_words(finding.hint))}")
    works = all(one.state != "no" for one in found)
    if as_json:
        shown = {"works": works, "findings": [asdict(one) for one in found]}
        print(json.dumps(shown, indent=2))
    raise SystemExit(0 if works else 1)


def ps(
    cluster: ClusterOptions,
    everything: Annotated[
        bool, Option("--all", help="Also pods that have ended, and are not removed yet.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the sandboxes of a namespace, with the process that made each, and its age."""
    with exit_codes(as_json=as_json):
        from llm_sandbox.cli.inventory import is_listed, print_resources

        backend = _backend(cluster)
        held = backend.inventory.resources()
    found = [one for one in held if everything or is_listed(one)]
    if as_json:
        print(json.dumps({"sandboxes": [one.to_dict() for one in found]}, indent=2))
    elif found:
        print_resources(found)
    else:
        print(f"no sandboxes in {backend.pods.namespace}")


def gc(
    cluster: ClusterOptions,
    dry_run: DryRunOption = False,
    older_than: OlderThanOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove pods that nobody owns: those that have ended, and those of processes that have."""
    with exit_codes(as_json=as_json):
        from llm_sandbox.cli.inventory import print_decisions, read_age

        inventory = _backend(cluster).inventory
        younger_stays_s = 0.0 if older_than is None else read_age(older_than)
        decisions = inventory.decide(inventory.resources(), younger_stays_s)
        if not dry_run:
            decisions = inventory.collect(decisions)
    if as_json:
        rows = [decision.to_dict() for decision in decisions]
        print(json.dumps({"dry_run": dry_run, "items": rows}, indent=2))
    else:
        print_decisions(decisions, dry_run=dry_run)


KUBERNETES = Group(
    "kubernetes",
    "Prepare a namespace of a cluster for sandboxes, check it, and list what is in it.",
    {
        "manifests": Command(
            manifests, "manifests", epilog="Then: kubectl apply -f -, by somebody who may."
        ),
        "check": Command(check, "check", epilog="Exit code: 0 when sandboxes work, else 1."),
        "ps": Command(ps, "ps"),
        "gc": Command(gc, "gc"),
    },
)
