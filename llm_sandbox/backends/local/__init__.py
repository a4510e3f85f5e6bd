"""Local backend: plain processes without isolation; it warns each time and is never a default.

Start reading at `backend`.
"""
