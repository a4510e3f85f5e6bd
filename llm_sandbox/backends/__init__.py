"""Where sandboxes live: one folder or file per engine, each a `base.Backend`.

May import the words of L0 and `guest`, and not each other. Start reading at `base`.
"""
