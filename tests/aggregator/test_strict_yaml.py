"""YAML that the root key would sign: read in one way or refused, with the file and the line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.errors import SettingsError
from aggregator.registry.changes import read_models
from aggregator.registry.policies import read_policy
from aggregator.settings import make_settings, read_settings, write_settings
from aggregator.small_file import MAX_BYTES
from aggregator.strict_yaml import read_yaml
from protocol import schema
from protocol.errors import ProtocolError

STRICT = Path(__file__).parents[2] / "policies/disclosure/strict.yaml"


def written(tmp_path: Path, text: str | bytes, name: str = "file.yaml") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(path: Path) -> str:
    with pytest.raises(SettingsError) as error:
        read_yaml(path)
    return str(error.value)


def test_a_second_threshold_at_the_end_of_a_policy_is_refused(tmp_path: Path) -> None:
    text = STRICT.read_text()
    lines = text.count("\n")
    with pytest.raises(
        SettingsError, match=rf"policy\.yaml: line {lines + 1}: the key 'min_units' is given twice"
    ):
        read_policy(written(tmp_path, text + "min_units: 1\n", "policy.yaml"))


def test_a_setting_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"aggregator\.yaml: line 2: the key 'invite_days' is given twice"
    ):
        read_settings(written(tmp_path, "invite_days: 7\ninvite_days: 300\n", "aggregator.yaml"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {name: a/b, display_name: A, name: c/d}", "line 1: the key 'name' is given twice"),
        ("- &a {name: a/b, display_name: A}\n- *a\n", "line 1: anchors and aliases"),
        (
            "- name: a/b\n  display_name: A\n- name: a/b\n  display_name: B\n",
            "line 3: a/b is listed twice",
        ),
        (
            "- name: a/b\n  display_name: A\n  is_language_model: no\n",
            "line 3: 0.is_language_model",
        ),
        (
            "- name: a/b\n- name: c/d\n  display_name: C\n  colour: red\n",
            "line 1: 0.display_name: is missing; line 4",
        ),
        ("- name: 7\n  display_name: A\n", "line 1: 0.name"),
        ("name: a/b\n", "line 1: the whole file"),
    ],
)
def test_a_list_of_models_that_two_readers_may_read_differently_is_refused(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(SettingsError) as error:
        read_models(written(tmp_path, text, "models.yaml"))
    assert str(error.value).startswith("models.yaml: ")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: [1", "line 2: while parsing a flow sequence"),
        ("a: 1\n--- \nb: 2\n", "line 2: expected a single document"),
        ("a: 1\n...\nb: 2\n", "line 3"),
        ("a: 1\nb: !!int 2\n", "line 2: tags"),
        ("a: ! 2\n", "line 1: tags"),
        ("a: &x 1\n", "line 1: anchors"),
        ("a: *x\n", "line 1: anchors"),
        ("a: 1\n? [b]\n: 2\n", "line 2: a key is not text"),
        ("[" * 1000, "line 1: nested more than 20 levels deep"),
        ("a: 1\nb: \x01\n", "line 2: a character"),
        (b"a: 1\nb: \xff\n", "line 2 is not UTF-8"),
        ("#" * (MAX_BYTES + 1), "larger than"),
    ],
)
def test_what_is_not_plain_yaml_is_refused_with_its_line(
    tmp_path: Path, text: str | bytes, said: str
) -> None:
    message = refused(written(tmp_path, text))
    assert message.startswith("file.yaml")
    assert said in message


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.yaml") == "none.yaml cannot be read: No such file or directory"


def test_no_older_reading_of_yaml_turns_words_into_something_else(tmp_path: Path) -> None:
    text = "{a: no, b: 010, c: 1:30, d: 1_000, e: 0x10, f: 2020-01-01, g: '7', <<: x}"
    assert read_yaml(written(tmp_path, text)).value == {
        "a": "no", "b": "010", "c": "1:30", "d": "1_000", "e": "0x10", "f": "2020-01-01", "g": "7", "<<": "x",
    }  # fmt: skip
    text = "{h: -3, i: 0.5, j: true, k: null, l: }"
    assert read_yaml(written(tmp_path, text)).value == {
        "h": -3,
        "i": 0.5,
        "j": True,
        "k": None,
        "l": None,
    }


def is_title(text: str) -> bool:
    try:
        schema.title(text, "", empty=True)
    except ProtocolError:
        return False
    return True


@given(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(["true", "null", "~", "010", "1e3", "- a", "a: b", "#", "'"]),
    )
)
def test_settings_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    if is_title(name):
        path = tmp_path_factory.mktemp("settings") / "aggregator.yaml"
        kept = make_settings({"name": name, "invite_days": 7})
        write_settings(path, kept)
        assert read_settings(path) == kept
    else:
        with pytest.raises(SettingsError, match="name"):
            make_settings({"name": name})
