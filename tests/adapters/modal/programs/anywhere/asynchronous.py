"""Three sandboxes at once, awaited."""

import asyncio

from llm_sandbox.adapters import modal


async def square(app, number):
    sb = await modal.Sandbox.create.aio(app=app)
    p = await sb.exec.aio("python3", "-c", f"print({number} ** 2)")
    text = ""
    async for piece in p.stdout:
        text += piece
    code = await p.wait.aio()
    await sb.terminate.aio()
    return code, text.strip()


async def main():
    app = await modal.App.lookup.aio("squares", create_if_missing=True)
    print(await asyncio.gather(*(square(app, number) for number in (2, 3, 4))))
    sb = await modal.Sandbox.create.aio(app=app)
    p = await sb.exec.aio("cat")
    p.stdin.write("over there\n")
    p.stdin.write_eof()
    await p.stdin.drain.aio()
    print(await p.stdout.read.aio(), end="")
    print(
        [one.object_id == sb.object_id async for one in modal.Sandbox.list.aio(app_id=app.app_id)]
    )
    await sb.terminate.aio()


asyncio.run(main())
