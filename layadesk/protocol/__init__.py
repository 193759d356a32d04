"""What the app and its two children say to each other, and the child's end of the line.

May import: domain, paths, msgspec. Thread: values cross threads, channels do not (see `channel.py`).
First file to read: `commands.py`, then `events.py`.

Order of events for one `Generate`: `Queued* Loading* PromptBuilt PrefillProgress* ThinkingDelta* TextDelta*` and then
exactly one `Finished` or `Failed`, with nothing after it; the text deltas together equal `Finished.text`, those of the
thinking `Finished.thinking`; `n_decoded` never falls.
"""

PROTOCOL_VERSION = 1
