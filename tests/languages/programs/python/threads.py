"""Work shared out between threads, and a lock that keeps the sum right."""

import threading
from concurrent.futures import ThreadPoolExecutor

total, lock = 0, threading.Lock()


def add(numbers):
    global total
    for number in numbers:
        with lock:
            total += number
    return len(numbers)


with ThreadPoolExecutor(4) as workers:
    counts = list(workers.map(add, [range(start, start + 250) for start in range(0, 1000, 250)]))
print(counts, total, total == sum(range(1000)))

ready, order = threading.Event(), []


def wait():
    ready.wait()
    order.append("second")


thread = threading.Thread(target=wait)
thread.start()
order.append("first")
ready.set()
thread.join()
print(order)
