"""YAML files in the shape users have: every key is mapped or named, and nothing in one can do harm."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.settings.definitions import ALL_SETTINGS
from layadesk.settings.yaml_import import mapped, read_yaml


@pytest.mark.parametrize(
    ("tree", "values", "ignored"),
    [
        ({"router": {"device": "cpu"}}, {"router.use_gpu": False}, ()),
        ({"router": {"device": "cuda:1", "topk": 2}}, {"router.use_gpu": True, "router.topk": 2}, ()),
        ({"router": {"topk": 9}}, {}, ("router.topk",)),
        ({"router": {"topk": True}}, {}, ("router.topk",)),
        ({"inference": {"max_seq_len": "many"}}, {}, ("inference.max_seq_len",)),
        ({"inference": {"max_seq_len": 8192.0}}, {"inference.n_ctx": 8192}, ()),
        ({"inference": 3, "router": {}}, {}, ("inference",)),
        ({"router": {}, "logging": {"level": 1}}, {}, ("logging",)),
        ({"expert_pool": {"a": 1}}, {}, ("expert_pool",)),
    ],
)
def test_each_key_is_mapped_or_named(
    tree: dict[str, object], values: dict[str, object], ignored: tuple[str, ...]
) -> None:
    found = mapped(tree)
    assert dict(found.values) == values
    assert found.ignored == ignored


@pytest.mark.parametrize(
    "content",
    ["", "just text", "[1, 2]", "a: b", "router: [", "!!python/object/apply:os.system ['true']", "\x00", "a: &a [*a]"],
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(LayaDeskError) as refused:
        read_yaml(tmp_path / "x.yaml")
    assert refused.value.code is ErrorCode.SETTINGS_FILE_FOREIGN


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["device", "topk", "max_seq_len", "max_batch", "name", "model"]), inner, max_size=3
    ),
    max_leaves=10,
)  # fmt: skip


@given(
    st.dictionaries(st.sampled_from(["router", "inference", "expert_pool", "x"]) | st.integers(), VALUES, max_size=4)
)
def test_no_content_breaks_it_and_each_key_is_taken_or_named(tree: dict[object, object]) -> None:
    found = mapped(tree)
    sections = [tree.get(name) for name in ("router", "inference")]
    n_keys = sum(len(section) for section in sections if isinstance(section, dict))
    assert sum(name.startswith(("router.", "inference.")) for name in found.ignored) + len(found.values) == n_keys
    assert set(found.values) <= {setting.key for setting in ALL_SETTINGS}
