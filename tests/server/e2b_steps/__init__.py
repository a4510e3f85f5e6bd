"""Steps of E2B's Python SDK, written once for its synchronous and its asynchronous flavor."""

from tests.server.e2b_steps import (
    code,
    commands,
    contexts,
    control_plane,
    files,
    signed_links,
    terminals,
    the_end,
)
from tests.server.steps import Steps

STEPS = Steps.joined(
    control_plane.STEPS,
    commands.STEPS,
    terminals.STEPS,
    files.STEPS,
    signed_links.STEPS,
    code.STEPS,
    contexts.STEPS,
    the_end.STEPS,
)
