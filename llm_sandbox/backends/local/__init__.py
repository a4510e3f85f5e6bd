"""Programs as plain processes of this machine: no isolation, a warning each time, never chosen
automatically.

Start reading at `backend`.
"""
