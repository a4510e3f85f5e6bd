"""Package installation: libraries of a session, built apart from it into read-only layers."""
