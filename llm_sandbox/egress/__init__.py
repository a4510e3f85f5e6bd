"""The gate through which a sandbox reaches the network: sockets planted in its network namespace,
and a process outside that judges every name and every address and dials by itself.
"""
