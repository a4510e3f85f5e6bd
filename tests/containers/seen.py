"""Direct questions to an engine, and to the output of a sandbox, without this library."""

import docker


def exists(api, container):
    """Whether the engine has it."""
    try:
        api.inspect_container(container)
    except docker.errors.NotFound:
        return False
    return True


def ours(api):
    """Containers that this process made."""
    from llm_sandbox.backends.containers.gc.labels import OWNER
    from llm_sandbox.backends.inventory import current_owner

    found = api.containers(all=True, filters={"label": f"{OWNER}={current_owner()}"})
    return {one["Id"] for one in found}


def container_of(session):
    """The container that a session is in."""
    return session._life.current.kernel.machine.container


def counted(text):
    """Whether the output is the first numbers, and more than none."""
    numbers = text.split()
    return bool(numbers) and numbers == [str(n) for n in range(len(numbers))]
