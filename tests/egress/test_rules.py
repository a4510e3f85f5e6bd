"""Rules: how they are read, what they mean, and what they refuse."""

from __future__ import annotations

import ipaddress
import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from llm_sandbox.egress.addresses import is_public
from llm_sandbox.egress.rules import RuleMatcher
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.network import NetworkEvent, NetworkRules, rules_of
from llm_sandbox.network.event import HINTS

LABELS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True).filter(
    lambda label: not label.startswith("xn--") and label[2:4] != "--"
)
NAMES = (
    st.lists(LABELS, min_size=2, max_size=4)
    .map(".".join)
    .filter(lambda name: not name.replace(".", "").isdigit())
)
ADDRESSES = st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6))


def nobodys(_: object) -> bool:
    return False


def judge(rules: NetworkRules) -> RuleMatcher:
    return RuleMatcher(rules, own=nobodys)


def says(rules: NetworkRules, target: str, port: int | None = 443) -> str:
    """Return the verdict on a name or an address."""
    held = judge(rules)
    try:
        address = ipaddress.ip_address(target)
    except ValueError:
        return held.name(target, port).reason or "allowed"
    assert port is not None
    return held.literal(address, port).reason or "allowed"


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        (
            "example.com",
            ["example.com"],
            ["www.example.com", "xexample.com", "example.com.evil.test"],
        ),
        ("*.example.com", ["a.example.com"], ["example.com", "a.b.example.com", "aexample.com"]),
        ("**.example.com", ["a.example.com", "a.b.example.com"], ["example.com", "aexample.com"]),
        ("**", ["example.com", "localhost"], [".", "a..b", "a b"]),
        ("Example.COM.", ["example.com"], ["example.org"]),
        ("bücher.example", ["xn--bcher-kva.example"], ["bcher.example"]),
        ("*.bücher.example", ["a.xn--bcher-kva.example"], ["xn--bcher-kva.example"]),
        ("localhost", ["localhost"], ["localhost.localdomain"]),
        ("_dmarc.example.com", ["_dmarc.example.com"], ["dmarc.example.com"]),
    ],
)
def test_names(pattern: str, inside: list[str], outside: list[str]) -> None:
    rules = NetworkRules.allow(domains=[pattern])
    assert [says(rules, name) for name in inside] == ["allowed"] * len(inside)
    assert [says(rules, name) for name in outside] == ["name_not_listed"] * len(outside)


@given(name=NAMES, prefix=st.lists(LABELS, min_size=1, max_size=3))
def test_depth_is_counted_in_labels(name: str, prefix: list[str]) -> None:
    longer = ".".join([*prefix, name])
    assume(len(longer) < 254)
    one, any_depth = (NetworkRules.allow(domains=[f"{stars}.{name}"]) for stars in ("*", "**"))
    assert (says(one, longer) == "allowed") == (len(prefix) == 1)
    assert says(any_depth, longer) == "allowed"
    assert says(one, name) == says(any_depth, name) == "name_not_listed"
    assert says(NetworkRules.allow(domains=[name]), longer) == "name_not_listed"


def test_ports() -> None:
    rules = NetworkRules.allow(
        domains=["a.test", "b.test:22"], cidrs=["8.0.0.0/8", "9.9.9.9:53"], ports=[443]
    )
    assert [says(rules, "a.test", port) for port in (443, 22, None)] == [
        "allowed",
        "port_not_listed",
        "allowed",
    ]
    assert [says(rules, "b.test", port) for port in (443, 22)] == ["port_not_listed", "allowed"]
    assert [says(rules, "8.8.8.8", port) for port in (443, 80)] == ["allowed", "port_not_listed"]
    assert [says(rules, "9.9.9.9", port) for port in (443, 53)] == ["port_not_listed", "allowed"]
    assert says(NetworkRules.allow(domains=["a.test"]), "a.test", 5432) == "allowed"


def test_deny_wins() -> None:
    rules = NetworkRules.internet(deny=["**.evil.test", "8.8.8.0/24", "mail.test:25"])
    assert says(rules, "a.evil.test") == says(rules, "8.8.8.8") == "denied"
    assert says(rules, "evil.test") == says(rules, "8.8.4.4") == "allowed"
    assert [says(rules, "mail.test", port) for port in (25, 443)] == ["denied", "allowed"]
    held = judge(rules)
    assert held.resolved("fine.test", ipaddress.ip_address("8.8.8.8"), 443).reason == "denied"
    pinned = NetworkRules.allow(hosts={"a.test": "10.0.0.1"}, deny=["10.0.0.0/8"])
    assert judge(pinned).resolved("a.test", ipaddress.ip_address("10.0.0.1"), 1).reason == "denied"


SPECIAL = [
    *("0.0.0.0", "10.0.0.1", "100.100.100.200", "127.0.0.1", "168.63.129.16", "169.254.169.254"),
    *("172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1"),
    *("198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "::ffff:8.8.8.8", "::8.8.8.8", "64:ff9b::8.8.8.8", "64:ff9b:1::8.8.8.8"),
    *("2001::1", "2001:db8::1", "2002:808:808::1", "fc00::1", "fd00:ec2::254", "fe80::1"),
    *("fec0::1", "ff02::1", "3fff::1", "4000::1", "100::1"),
]


@pytest.mark.parametrize("address", SPECIAL)
def test_the_internet_has_no_special_addresses(address: str) -> None:
    parsed = ipaddress.ip_address(address)
    held = judge(NetworkRules.internet())
    assert not held.literal(parsed, 443).allowed
    assert not held.resolved("a.test", parsed, 443).allowed


@given(ADDRESSES)
def test_what_python_calls_private_is_not_public(address: ipaddress.IPv4Address) -> None:
    """Another list of the same, made by others, is no longer than ours."""
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert not is_public(address)
        assert not judge(NetworkRules.internet()).literal(address, 443).allowed


@given(ADDRESSES, st.integers(1, 65535))
def test_no_broad_range_means_a_special_address(address: ipaddress.IPv4Address, port: int) -> None:
    rules = NetworkRules.allow(
        domains=["a.test"], cidrs=["0.0.0.0/0", "::/0"], resolve_into_cidrs=True
    )
    held = judge(rules)
    assert held.literal(address, port).allowed == is_public(address)
    assert held.resolved("a.test", address, port).allowed == is_public(address)


def test_private_addresses_have_to_be_meant() -> None:
    rules = NetworkRules.allow(domains=["db.test"], cidrs=["10.1.0.0/16"])
    assert says(rules, "10.1.2.3") == "allowed"
    assert says(rules, "10.2.2.3") == "private_address"
    inner = ipaddress.ip_address("10.1.2.3")
    assert judge(rules).resolved("db.test", inner, 5432).reason == "resolved_private"
    into = NetworkRules.allow(domains=["db.test"], cidrs=["10.1.0.0/16"], resolve_into_cidrs=True)
    assert judge(into).resolved("db.test", inner, 5432).allowed
    pinned = NetworkRules.allow(hosts={"db.test": "10.1.2.3"})
    assert judge(pinned).resolved("db.test", inner, 5432).allowed
    other = ipaddress.ip_address("10.1.2.4")
    assert judge(pinned).resolved("db.test", other, 5432).reason == "resolved_private"
    assert says(pinned, "10.1.2.3") == "private_address"


def test_the_hosts_own_addresses_have_to_be_named_exactly() -> None:
    own = ipaddress.ip_address("8.8.8.8")

    def held(rules: NetworkRules) -> RuleMatcher:
        return RuleMatcher(rules, own=lambda address: address == own)

    assert held(NetworkRules.internet()).literal(own, 22).reason == "own_address"
    assert held(NetworkRules.internet()).resolved("a.test", own, 22).reason == "resolved_private"
    assert held(NetworkRules.allow(cidrs=["8.8.8.0/24"])).literal(own, 22).reason == "own_address"
    assert held(NetworkRules.allow(cidrs=["8.8.8.8"])).literal(own, 22).allowed
    loop = ipaddress.ip_address("127.0.0.1")
    named = NetworkRules.allow(domains=["a.test"], cidrs=["127.0.0.0/8"], resolve_into_cidrs=True)
    assert judge(named).resolved("a.test", loop, 80).allowed
    assert judge(named).literal(loop, 80).reason == "never"


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("domains", ["https://example.com"], "without a scheme"),
        ("domains", ["*example.com"], "wildcard"),
        ("domains", ["a.*.com"], "wildcard"),
        ("domains", ["*"], "wildcard"),
        ("domains", ["8.8.8.8"], "list it in cidrs"),
        ("domains", ["[::1]:80"], "not a name"),
        ("domains", ["example.com:http"], "number for a port"),
        ("domains", ["example.com:0"], "1 to 65535"),
        ("domains", ["exa mple.com"], "not a name"),
        ("domains", ["a" * 64 + ".com"], "not a name"),
        ("domains", [""], "a rule is text"),
        ("domains", [7], "a rule is text"),
        ("domains", "example.com", "is a list"),
        ("cidrs", ["8.8.8.8/24"], "host bits"),
        ("cidrs", ["example.com"], "not an address range"),
        ("cidrs", ["224.0.0.0/8"], "nothing can be connected"),
        ("cidrs", ["198.18.1.0/24"], "stand for names"),
        ("cidrs", ["2000::/3"], "no IPv6"),
        ("ports", [0], "1 to 65535"),
        ("ports", [True], "1 to 65535"),
        ("ports", ["80"], "1 to 65535"),
        ("deny", ["a.*.com"], "wildcard"),
        ("hosts", {"a.test": "b.test"}, "not an address"),
        ("hosts", {"a.test": "0.0.0.0"}, "nothing can be connected"),
        ("tls", "loose", "one of"),
    ],
)
def test_what_is_refused(field: str, value: object, words: str) -> None:
    with pytest.raises(ValidationError, match=words) as caught:
        NetworkRules.allow(**{field: value})  # type: ignore[arg-type]
    assert caught.value.parameter == field


@pytest.mark.slow
@given(
    st.lists(NAMES.flatmap(lambda n: st.sampled_from([n, f"*.{n}", f"**.{n}:8443", f"{n}:22"]))),
    st.lists(st.ip_addresses(v=4).filter(is_public).map(str)),
    st.lists(st.integers(1, 65535)),
    st.sampled_from(["check", "strict", "off"]),
)
def test_rules_come_back_from_json(
    domains: list[str], cidrs: list[str], ports: list[int], tls: str
) -> None:
    rules = NetworkRules.allow(
        domains=domains,
        cidrs=cidrs,
        ports=ports,
        deny=[*domains, *cidrs],
        hosts={"a.test": "10.0.0.1"},
        tls=tls,  # type: ignore[arg-type]
    )
    again = NetworkRules.from_dict(json.loads(json.dumps(rules.to_dict())))
    assert (again, hash(again)) == (rules, hash(rules))


def test_rules_of_another_version_are_refused() -> None:
    with pytest.raises(ValidationError, match="methods"):
        NetworkRules.from_dict({"domains": [], "methods": ["GET"]})


def test_networks() -> None:
    assert rules_of("blocked") is None
    assert rules_of("open") is None
    assert rules_of("internet") == NetworkRules.internet()
    rules = NetworkRules.allow(domains=["a.test"])
    assert rules_of(rules) is rules
    with pytest.raises(ValidationError, match="blocked"):
        rules_of("wide")  # type: ignore[arg-type]


def test_nothing_listed_is_nothing_allowed() -> None:
    assert says(NetworkRules.allow(), "example.com") == "name_not_listed"
    assert says(NetworkRules.allow(), "8.8.8.8") == "address_not_listed"


def test_an_event_says_what_opens_the_door_and_comes_back_from_json() -> None:
    event = NetworkEvent(3, 1.5, "dns", "denied", "name_not_listed", name="a.test")
    assert "NetworkRules.allow(domains=['a.test'])" in event.hint
    assert NetworkEvent.from_dict(json.loads(json.dumps(event.to_dict()))) == event
    with pytest.raises(ValidationError):
        NetworkEvent.from_dict({"number": 1})


def test_every_reason_has_its_sentence() -> None:
    """Each verdict of the judge and the gate is known to the record."""
    for reason, sentence in HINTS.items():
        event = NetworkEvent(
            1, 0.0, "tcp", "denied", reason, name="a.test", address="8.8.8.8", port=1, detail="d"
        )
        assert event.hint != f"a.test: {reason}", sentence
        assert "None" not in event.hint
