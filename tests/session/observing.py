"""Reading what results say was observed."""


def seen(result, capability=None):
    """(event, subject) of what was observed, of one capability or of all."""
    wanted = [o for o in result.observations if capability in (None, o.capability)]
    return {(o.event, o.subject) for o in wanted}
