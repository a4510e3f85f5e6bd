"""Network records of a sandbox: rules, and blocked or failed connection attempts."""

from llm_sandbox.network.event import NetworkEvent
from llm_sandbox.network.parsing import SYNTHETIC_RANGE
from llm_sandbox.network.rules import Network, NetworkRules, TlsCheck, rules_of

__all__ = ["SYNTHETIC_RANGE", "Network", "NetworkEvent", "NetworkRules", "TlsCheck", "rules_of"]
