import os
from pathlib import Path

from layadesk.engine.environment import apply_engine_environment, backend_modules
from layadesk.protocol.options import BACKEND_MODULES


def test_openmp_threads_spin_for_a_bounded_time_and_an_abort_does_not_look_for_a_debugger() -> None:
    environ: dict[str, str] = {}
    apply_engine_environment(environ)
    assert environ == {"GOMP_SPINCOUNT": "10000", "KMP_BLOCKTIME": "1", "GGML_NO_BACKTRACE": "1"}


def test_what_the_user_has_set_stays() -> None:
    environ = {"GOMP_SPINCOUNT": "5", "GGML_NO_BACKTRACE": "0"}
    apply_engine_environment(environ)
    assert environ["GOMP_SPINCOUNT"] == "5"
    assert environ["GGML_NO_BACKTRACE"] == "0"


def test_a_wait_policy_of_the_users_is_not_undone_by_a_spin_count() -> None:
    environ = {"OMP_WAIT_POLICY": "passive"}
    apply_engine_environment(environ)
    assert "GOMP_SPINCOUNT" not in environ
    assert "KMP_BLOCKTIME" not in environ


def test_more_backends_are_named_as_in_a_path() -> None:
    assert backend_modules({}) == ()
    assert backend_modules({BACKEND_MODULES: os.pathsep.join(["/a b/x.so", "", "/y.so"])}) == ("/a b/x.so", "/y.so")


def test_shipped_backends_are_taken_unless_the_variable_says_otherwise() -> None:
    shipped = (Path("/bundle/backends/libggml-vulkan.so"),)
    assert backend_modules({}, shipped) == ("/bundle/backends/libggml-vulkan.so",)
    assert backend_modules({BACKEND_MODULES: ""}, shipped) == ()
    assert backend_modules({BACKEND_MODULES: "/mine.so"}, shipped) == ("/mine.so",)
