"""Command daemon: a process of one user that keeps a sandbox ready for the next `llm-sandbox run`.

`client` is the command's end, `server` the daemon, `worker` the process that runs one command, and
`control` launches and stops the daemon.
Nothing is imported here: the client must load in a few milliseconds.
"""
