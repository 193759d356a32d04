"""A program that writes without end, for tests that kill it: `python -m tests.fakes.store_child DATA_DIR NAME N_TURNS`.

It prints a line for what a future has confirmed, and nothing else: `saved MESSAGE_ID N_CHARACTERS`.
"""

import os
import sys
import time
from concurrent.futures import Future
from functools import partial
from pathlib import Path

from layadesk.domain.chat import Conversation, Message, MessageStatus
from layadesk.domain.inference import Role
from layadesk.domain.storage import StorageKind
from layadesk.paths import DataPaths
from layadesk.store.store import Store


def main(root: str, name: str, n_turns: int) -> None:
    """Write `n_turns` turns of ten words, then close; a negative number writes until killed."""
    store = Store.open(DataPaths(Path(root)), now=time.time())
    store.mark_interrupted()
    store.add_conversation(Conversation(name, name, time.time(), time.time())).result()
    parent, turn = None, 0
    while turn != n_turns:
        question = Message(f"{name}-q{turn}", name, parent, Role.USER, "why?", time.time())
        answer = Message(
            f"{name}-a{turn}", name, question.message_id, Role.ASSISTANT, "", time.time(), MessageStatus.STREAMING
        )
        added = store.add_messages([question, answer], leaf_id=answer.message_id)
        added.add_done_callback(partial(_confirm, question.message_id, 4))
        text = ""
        for n in range(10):
            text += f"word {n} because " * 40
            store.save_progress(answer.message_id, text, n).add_done_callback(
                partial(_confirm, answer.message_id, len(text))
            )
        done = Message(
            answer.message_id,
            name,
            question.message_id,
            Role.ASSISTANT,
            text + "!",
            time.time(),
            MessageStatus.COMPLETE,
        )
        finished = store.finish_message(done)
        finished.add_done_callback(partial(_confirm, answer.message_id, len(text) + 1))
        finished.result()
        parent, turn = answer.message_id, turn + 1
    assert store.status.kind is StorageKind.SAVING
    store.close()


def _confirm(message_id: str, n_characters: int, future: "Future[None]") -> None:
    future.result()
    os.write(1, f"saved {message_id} {n_characters}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
