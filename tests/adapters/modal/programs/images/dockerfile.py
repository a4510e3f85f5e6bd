"""An image that a Dockerfile describes, given as lines, and published under a name."""

from llm_sandbox.adapters import modal

app = modal.App.lookup("dockerfile", create_if_missing=True)
image = modal.Image.debian_slim().dockerfile_commands(
    ["ENV LEVEL=7", "WORKDIR /srv/app", "RUN echo $LEVEL > level.txt", 'SHELL ["/bin/sh", "-c"]']
)
image.build(app)
sb = modal.Sandbox.create("cat", "/srv/app/level.txt", app=app, image=image)
print(sb.stdout.read(), sb.stderr.read(), end="")
image.publish("of-tests:latest")
sb = modal.Sandbox.create(app=app, image=modal.Image.from_name("of-tests:latest"))
print(sb.exec("sh", "-c", "pwd; echo $LEVEL").stdout.read(), end="")
sb.terminate()
try:
    bad = modal.Image.debian_slim().run_commands("echo step; false")
    modal.Sandbox.create(app=app, image=bad)
except modal.exception.ImageBuildError as error:
    print("step" in str(error))
