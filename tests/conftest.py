"""What every test may rely on."""

import signal

pytest_plugins = [
    "tests.plugins.conformance_table",
    "tests.plugins.leftovers",
    "tests.plugins.needed_engines",
    "tests.plugins.shares",
]

# A test run that a shell started in the background inherits an ignored SIGINT, and so would every
# program that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
