"""Descriptions of artifacts (POMs), with their parents and imports applied."""

import platform
import re
from dataclasses import dataclass, field
from xml.etree import ElementTree

from .repositories import Artifact, Repositories, ResolutionError, parse, text_of
from .versions import in_range

__all__ = ["Dependency", "Descriptions", "Model", "plain"]

_DEEPEST_PARENT = 20
_JAVA = 17
_PROPERTY = re.compile(r"\$\{([^${}]{1,200})\}")
_WORD = re.compile(r"[A-Za-z0-9_.+-]{1,200}", re.ASCII)


@dataclass
class Dependency:
    """Dependency declaration, as written in the POM."""

    group: str
    name: str
    version: str = ""
    kind: str = "jar"
    classifier: str = ""
    scope: str = ""
    optional: str = ""
    excluded: frozenset[tuple[str, str]] = frozenset()

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Group, name, kind and classifier, which identify the dependency regardless of version."""
        return self.group, self.name, self.kind, self.classifier


@dataclass
class Model:
    """Effective POM: the description of an artifact merged with its parents."""

    properties: dict[str, str] = field(default_factory=dict)
    dependencies: list[Dependency] = field(default_factory=list)
    managed: list[Dependency] = field(default_factory=list)
    packaging: str = "jar"
    moved_to: Artifact | None = None


class Descriptions:
    """Cached reader of descriptions."""

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories
        self._models: dict[tuple[str, str, str], Model] = {}

    def read(self, group: str, name: str, version: str, depth: int = 0) -> Model:
        """Return the effective description of an artifact."""
        key = (group, name, version)
        if key not in self._models:
            if depth > _DEEPEST_PARENT:
                raise ResolutionError(f"{group}:{name} inherits from itself")
            raw = self._inherited(group, name, version, depth)
            self._models[key] = self._complete(raw, depth)
        return self._models[key]

    def _inherited(self, group: str, name: str, version: str, depth: int) -> Model:
        pom = Artifact(plain(group), plain(name), plain(version), "pom")
        root = parse(self._repositories.read(pom.path), str(pom))
        model = Model()
        parent = root.find("parent")
        if parent is not None:
            if depth > _DEEPEST_PARENT:
                raise ResolutionError(f"{group}:{name} inherits from itself")
            place = [text_of(parent, tag) for tag in ("groupId", "artifactId", "version")]
            model = self._inherited(place[0], place[1], place[2], depth + 1)
            for tag, text in zip(("groupId", "artifactId", "version"), place, strict=True):
                model.properties[f"project.parent.{tag}"] = text
        own = model.properties
        model.packaging = text_of(root, "packaging") or "jar"
        for part in (
            root,
            *(item for item in root.iterfind("profiles/profile") if _is_active(item)),
        ):
            for item in part.iterfind("properties/*"):
                own[item.tag] = (item.text or "").strip()
            model.dependencies = _over(_declared(part, "dependencies"), model.dependencies)
            managed = _declared(part, "dependencyManagement/dependencies")
            model.managed = _over(managed, model.managed)
        for tag, text in (("groupId", group), ("artifactId", name), ("version", version)):
            own[f"project.{tag}"] = own[f"pom.{tag}"] = own[tag] = text
        moved = root.find("distributionManagement/relocation")
        if moved is not None:
            model.moved_to = Artifact(
                text_of(moved, "groupId") or group,
                text_of(moved, "artifactId") or name,
                text_of(moved, "version") or version,
            )
        return model

    def _complete(self, model: Model, depth: int) -> Model:
        """Fill in properties and managed versions."""
        own = model.properties
        managed: dict[tuple[str, str, str, str], Dependency] = {}
        imported = []
        for item in (_filled(item, own) for item in model.managed):
            if item.scope == "import" and item.kind == "pom":
                imported.append(item)
            else:
                managed.setdefault(item.key, item)
        for item in imported:
            for other in self.read(item.group, item.name, item.version, depth + 1).managed:
                managed.setdefault(other.key, other)
        complete = []
        for item in (_filled(item, own) for item in model.dependencies):
            rule = managed.get(item.key)
            if rule is not None:
                item.version = item.version or rule.version
                item.scope = item.scope or rule.scope
                item.optional = item.optional or rule.optional
                item.excluded |= rule.excluded
            complete.append(item)
        return Model(own, complete, list(managed.values()), model.packaging, model.moved_to)


def _declared(part: ElementTree.Element, path: str) -> list[Dependency]:
    return [
        Dependency(
            text_of(item, "groupId"),
            text_of(item, "artifactId"),
            text_of(item, "version"),
            text_of(item, "type") or "jar",
            text_of(item, "classifier"),
            text_of(item, "scope"),
            text_of(item, "optional"),
            frozenset(
                (text_of(other, "groupId"), text_of(other, "artifactId"))
                for other in item.iterfind("exclusions/exclusion")
            ),
        )
        for item in part.iterfind(f"{path}/dependency")
    ]


def _over(nearer: list[Dependency], farther: list[Dependency]) -> list[Dependency]:
    known = {item.key: item for item in farther}
    known.update({item.key: item for item in nearer})
    return list(known.values())


def _filled(item: Dependency, properties: dict[str, str]) -> Dependency:
    words = (item.group, item.name, item.version, item.kind, item.classifier)
    rest = (item.scope, item.optional)
    group, name, version, kind, classifier, scope, optional = (
        _fill(word, properties) for word in (*words, *rest)
    )
    return Dependency(group, name, version, kind, classifier, scope, optional, item.excluded)


def _fill(text: str, properties: dict[str, str]) -> str:
    for _ in range(20):
        filled = _PROPERTY.sub(lambda found: properties.get(found[1], found[0]), text)[:10_000]
        if filled == text:
            break
        text = filled
    return text


def _is_active(profile: ElementTree.Element) -> bool:
    rule = profile.find("activation")
    if rule is None:
        return False
    system, jdk = rule.find("os"), text_of(rule, "jdk")
    if system is None and not jdk:
        return text_of(rule, "activeByDefault") == "true"
    fits = not jdk or _fits_java(jdk)
    if system is not None:
        machine = {"x86_64": "amd64"}.get(platform.machine(), platform.machine())
        known = {"name": {"linux"}, "family": {"unix"}, "arch": {machine}}
        for tag, values in known.items():
            asked = text_of(system, tag).lower()
            if asked:
                fits = fits and ((asked.lstrip("!") in values) != asked.startswith("!"))
    return fits and rule.find("property") is None and rule.find("file") is None


def _fits_java(asked: str) -> bool:
    if asked[0] in "[(":
        return in_range(str(_JAVA), re.sub(r"\b1\.(?=\d)", "", asked))
    negated = asked.startswith("!")
    return (asked.lstrip("!").removeprefix("1.").split(".")[0] == str(_JAVA)) != negated


def plain(word: str) -> str:
    """Return a name or a version unchanged.

    Raises:
        ResolutionError: The word is neither a name nor a version.
    """
    if not _WORD.fullmatch(word) or ".." in word:
        raise ResolutionError(f"invalid name or unknown version: {word[:100]!r}")
    return word
