# Forks until it may not, and prints how many processes there were.
import os, time

count = 0
try:
    while count < 300:
        if os.fork() == 0:
            os.closerange(0, 3)  # whoever waits for the output does not wait for this one
            time.sleep(3)
            os._exit(0)
        count += 1
except OSError:
    pass
print(count)
