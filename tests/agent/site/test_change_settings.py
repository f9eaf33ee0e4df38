"""One line of site.yaml is changed, and every other byte stays."""

from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.site.change_settings import CHANGEABLE, change_setting, describe_number, read_given
from agent.site.settings import Settings, read_settings

CONTENT = """\
# Ward 7 asks for shorter waits.
site_name: 'St. Example'   # shown on pages

max_in_flight: 8   # two cards
attempt_timeout_s:   90.5
allowed_hosts:
  - 10.0.0.7   # max_in_flight: 3
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "site.yaml"
    path.write_text(CONTENT, "utf-8")
    path.chmod(0o640)
    return path


def test_a_value_is_replaced_and_comments_stay(path: Path):
    assert change_setting(path, "max_in_flight", " 16 ").max_in_flight == 16
    assert path.read_text() == CONTENT.replace("max_in_flight: 8 ", "max_in_flight: 16 ", 1)
    assert change_setting(path, "attempt_timeout_s", "0.5").attempt_timeout_s == 0.5
    assert path.stat().st_mode & 0o777 == 0o640
    assert read_settings(path).max_in_flight == 16


def test_a_new_setting_is_a_line_at_the_end_and_an_empty_value_takes_it_out(path: Path):
    change_setting(path, "jobs_at_once", "2")
    assert path.read_text() == CONTENT + "jobs_at_once: 2\n"
    change_setting(path, "jobs_at_once", "")
    assert path.read_text() == CONTENT
    change_setting(path, "jobs_at_once", "")
    assert path.read_text() == CONTENT


def test_windows_line_ends_and_a_missing_last_one_stay_readable(path: Path):
    path.write_bytes(b"site_name: x\r\nmax_in_flight: 8\r\nkeep_jobs_days: 3")
    change_setting(path, "max_in_flight", "9")
    assert path.read_bytes() == b"site_name: x\r\nmax_in_flight: 9\r\nkeep_jobs_days: 3"
    assert change_setting(path, "jobs_at_once", "2").jobs_at_once == 2


@pytest.mark.parametrize(
    "text", ["0", "-1", "99999", "8.5", "1e3", "8\nredaction_policy: none", "{}", "eight", "８"]
)
def test_a_wrong_value_changes_nothing(path: Path, text: str):
    with pytest.raises(ConfigError, match="max_in_flight"):
        change_setting(path, "max_in_flight", text)
    assert path.read_text() == CONTENT


def test_a_number_that_is_not_accepted_is_answered_with_those_that_are(path: Path):
    """-3 was refused with "expected a number"."""
    expected = {
        "max_in_flight": "a whole number from 1 to 4,096",
        "max_attempts": "a whole number from 1 to 20",
        "keep_texts_days": "a whole number of at least 1",
        "attempt_timeout_s": "a number above 0, at most 86,400",
    }
    for name, words in expected.items():
        for text in ("-3", "1,5", "0"):
            with pytest.raises(ConfigError, match=f"^{name}: expected {words}$"):
                change_setting(path, name, text)
    for name in CHANGEABLE:
        assert describe_number(name).startswith(("a whole number ", "a number "))


@pytest.mark.parametrize("name", [*sorted(set(Settings.model_fields) - CHANGEABLE), "nonsense"])
def test_other_settings_cannot_be_changed(path: Path, name: str):
    with pytest.raises(ConfigError, match="cannot be changed from here"):
        change_setting(path, name, "1")
    assert path.read_text() == CONTENT


@pytest.mark.parametrize(
    "content",
    [
        "{site_name: x, max_in_flight: 8}\n",
        "site_name: x\nmax_in_flight:\n  8\n",
        "site_name: x\n'max_in_flight': 8\n",
        "site_name: |\n  x\n...\n",
    ],
)
def test_a_file_in_another_style_is_left_alone_and_the_line_is_shown(path: Path, content: str):
    path.write_text(content)
    with pytest.raises(ConfigError) as error:
        change_setting(path, "max_in_flight", "9")
    assert "max_in_flight" in f"{error.value} {error.value.advice}" or "site.yaml" in str(
        error.value
    )
    assert path.read_text() == content


def test_a_link_is_left_to_whatever_manages_it(path: Path):
    managed = path.rename(path.with_name("managed.yaml"))
    path.symlink_to(managed)
    with pytest.raises(ConfigError, match="is a link"):
        change_setting(path, "max_in_flight", "9")
    assert managed.read_text() == CONTENT


def test_the_line_of_each_given_setting_is_known(path: Path):
    expected = {"site_name": 2, "max_in_flight": 4, "attempt_timeout_s": 5, "allowed_hosts": 6}
    assert read_given(path) == expected
