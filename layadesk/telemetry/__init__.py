"""What the machine is doing: sensors, the sampler, half an hour of history.

May import: domain, paths, protocol.feed, psutil, pynvml (both only once sampling has started). Threads: one lane for
the host and one for GPUs, so that a hung driver cannot stop the RAM curve. First file to read: `sampler.py`, then
`sensors.py`.
"""
