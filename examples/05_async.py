"""Several sandboxes at once from async code: each method has an awaitable twin."""

import asyncio

from llm_sandbox import aio


async def count(name: str) -> str:
    async with aio.create_session(lang="python") as session:
        result = await session.run(f"print({name!r}, sum(range(1_000_000)))")
        return result.stdout.strip()


async def main() -> None:
    for line in await asyncio.gather(*(count(f"session {number}") for number in range(3))):
        print(line)


if __name__ == "__main__":
    asyncio.run(main())
