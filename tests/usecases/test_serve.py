"""The switch of the server: states, keys, what is remembered."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.server import KeyHash, ServedRequest, ServerState, ServerStatus
from layadesk.paths import DataPaths
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.usecases.serve import N_KEPT_REQUESTS, Serve
from layadesk.usecases.server_key import ServerKey, is_key
from tests.fakes.server_switch import FakeListener, server_switch

WAIT_S = 10.0


@pytest.fixture
def switched(tmp_path: Path) -> Iterator[tuple[Serve, FakeListener, Settings]]:
    settings = Settings(DataPaths(tmp_path))
    serve, listener = server_switch(tmp_path, settings)
    yield serve, listener, settings
    serve.close()
    settings.flush()


Switched = tuple[Serve, FakeListener, Settings]


def test_it_goes_on_and_off_and_tells_each_step(switched: Switched) -> None:
    serve, listener, settings = switched
    told: list[ServerStatus] = []
    serve.status_feed.subscribe(told.append)
    assert serve.switch(on=True).result(WAIT_S).state is ServerState.ON
    assert serve.switch(on=True).result(WAIT_S).state is ServerState.ON  # a second time is none
    assert serve.switch(on=False).result(WAIT_S).state is ServerState.OFF
    assert [status.state for status in told] == [ServerState.STARTING, ServerState.ON, ServerState.OFF]
    assert (len(listener.plans), listener.n_stops) == (1, 1)
    assert settings.get(definitions.SERVER_ENABLED) is False


def test_what_was_on_is_on_again_at_the_next_start(switched: Switched) -> None:
    serve, listener, settings = switched
    serve.start_if_wanted()
    assert serve.status.state is ServerState.OFF
    settings.set(definitions.SERVER_ENABLED, True)
    settings.set(definitions.SERVER_PORT, 8123)
    serve.start_if_wanted()
    assert serve.switch(on=True).result(WAIT_S).state is ServerState.ON  # behind it in the queue
    assert [plan.port for plan in listener.plans] == [8123]


def test_a_taken_port_is_a_status_and_the_program_goes_on(switched: Switched) -> None:
    serve, listener, _ = switched
    listener.taken = {8000}
    status = serve.switch(on=True).result(WAIT_S)
    assert status.state is ServerState.FAILED
    assert status.error is not None
    assert status.error.facts["free_port"] == 8001
    assert serve.start(port=8001).state is ServerState.ON


def test_a_new_key_holds_at_once_and_the_old_one_no_more(switched: Switched, tmp_path: Path) -> None:
    serve, listener, _ = switched
    serve.start()
    first, second = serve.new_key(), serve.new_key()
    kept = listener.plans[-1].key_hash
    assert kept is not None
    assert (is_key(second, kept), is_key(first, kept), is_key("", kept)) == (True, False, False)
    assert kept.tail == second[-4:]
    assert second not in DataPaths(tmp_path).server_key.read_text("utf-8")
    serve.forget_key()
    assert serve.key is None
    assert listener.plans[-1].key_hash is None


def test_other_machines_are_let_in_with_a_key_only(switched: Switched) -> None:
    serve, listener, _ = switched
    for host in ("0.0.0.0", "127.0.0.1.example.com"):
        with pytest.raises(LayaDeskError) as refusal:
            serve.start(host=host)
        assert refusal.value.code is ErrorCode.API_KEY_NEEDED
    serve.new_key()
    assert serve.start(host="0.0.0.0").state is ServerState.ON
    serve.forget_key()
    assert serve.status.state is ServerState.FAILED
    assert listener.n_stops == 1


def test_a_start_that_fails_leaves_the_key_as_it_was(switched: Switched) -> None:
    serve, listener, _ = switched
    listener.taken = {8000}

    def failed(start: Callable[..., object], host: str = "127.0.0.1", port: int = 8000) -> KeyHash | None:
        with pytest.raises(LayaDeskError):
            start(host=host, port=port)
        return serve.key

    assert failed(serve.start_with_key) is None
    key = serve.start_with_key(port=8001)
    serve.stop()
    for kept in (
        failed(serve.start_with_key),
        failed(serve.start_without_key),
        failed(serve.start_without_key, "0.0.0.0", 8001),
    ):
        assert kept is not None
        assert is_key(key, kept)
    serve.start_without_key(port=8001)
    assert serve.key is None


@pytest.mark.logs_warnings
def test_a_damaged_key_file_lets_nobody_in(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    for content in ("{", "[]", '{"salt": "zz"}', "[" * 100_000):
        path.write_text(content, "utf-8")
        kept = ServerKey(path).read()
        assert kept is not None
        assert not is_key("", kept)


def test_the_last_requests_are_kept_for_a_page_that_is_opened_later(switched: Switched) -> None:
    serve, listener, _ = switched
    serve.start()
    for n in range(N_KEPT_REQUESTS + 5):
        listener.served(ServedRequest(float(n), "curl", "/v1/models", 200, 1.0))
    assert len(serve.requests()) == N_KEPT_REQUESTS
    assert serve.requests()[-1].at == N_KEPT_REQUESTS + 4
