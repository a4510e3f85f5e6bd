"""Tasks that hand work on through queues."""

import asyncio


async def produce(queue):
    for number in range(6):
        await queue.put(number)
        await asyncio.sleep(0)
    await queue.put(None)


async def square(source, target):
    while (number := await source.get()) is not None:
        await target.put(number * number)
    await target.put(None)


async def main():
    numbers, squares = asyncio.Queue(2), asyncio.Queue(2)
    found = []
    async with asyncio.TaskGroup() as group:
        group.create_task(produce(numbers))
        group.create_task(square(numbers, squares))
        while (number := await squares.get()) is not None:
            found.append(number)
    print(found, sum(found))


await main()
