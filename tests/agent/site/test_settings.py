"""Settings: every fault is named at once, no value is quoted, and paths are the site's."""

import os
from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.site.settings import Settings, read_settings, write_settings


def written(folder: Path, text: str) -> Path:
    path = folder / "site.yaml"
    path.write_text(text)
    return path


def test_what_is_written_is_read_again_and_no_file_is_written_over(tmp_path: Path):
    path, settings = tmp_path / "site.yaml", Settings(site_name="Größe #1: 'x'", keep_texts_days=30)
    write_settings(path, settings)
    assert read_settings(path) == settings
    with pytest.raises(FileExistsError):
        write_settings(path, settings)


def test_every_wrong_key_is_named_at_once_and_no_value_is_quoted(tmp_path: Path):
    path = written(tmp_path, "site_name: A\ncolour: CANARY\nkeep_texts_days: CANARY\n")
    with pytest.raises(ConfigError, match=r"colour: unknown setting") as refused:
        read_settings(path)
    assert "keep_texts_days: " in str(refused.value)
    assert "CANARY" not in str(refused.value) + refused.value.advice


@pytest.mark.parametrize(
    ("line", "guess"),
    [
        ("keep_text_days: 9", "keep_text_days: unknown setting (did you mean 'keep_texts_days'?)"),
        ("plugins: [{sha: abc, file: plugins/a.py}]", "unknown setting (did you mean 'sha256'?)"),
        ("colour: red", "colour: unknown setting"),
    ],
)
def test_an_unknown_setting_is_answered_with_the_nearest_known_one(
    tmp_path: Path, line: str, guess: str
):
    with pytest.raises(ConfigError) as refused:
        read_settings(written(tmp_path, f"site_name: A\n{line}\n"))
    assert guess in str(refused.value)
    assert ("did you mean" in str(refused.value)) == ("did you mean" in guess)


@pytest.mark.parametrize("mask", [0o022, 0o000])
def test_settings_are_written_for_their_owner_alone(tmp_path: Path, mask: int):
    before = os.umask(mask)
    try:
        write_settings(tmp_path / "site.yaml", Settings(site_name="A"))
    finally:
        os.umask(before)
    assert (tmp_path / "site.yaml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "url",
    [
        "proxy.hospital.example:3128",
        "socks5://10.0.0.1:1080",
        "http://me:CANARY@home@10.0.0.1:3128",
        "http://me:CANARY/x@10.0.0.1:3128",
        "http://me:CANARY#x@10.0.0.1:3128",
        "http://me:CANARY?x@10.0.0.1:3128",
        "http://me:CANARY@10.0.0.1:port",
        "http://[::1",
    ],
)
def test_a_proxy_of_the_wrong_form_is_refused_without_its_password(tmp_path: Path, url: str):
    with pytest.raises(ConfigError, match="proxy: expected http://HOST:PORT") as refused:
        read_settings(written(tmp_path, f"site_name: A\nproxy: '{url}'\n"))
    assert "CANARY" not in str(refused.value) + refused.value.advice


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1:3128", "https://proxy.example/", "http://me:a%40b%2Fc@[::1]:3128"]
)
def test_a_proxy_may_have_a_user_and_a_password(tmp_path: Path, url: str):
    settings = read_settings(written(tmp_path, f"site_name: A\nproxy: '{url}'\n"))
    assert settings.proxy == url


def test_the_known_settings_are_listed_only_for_an_unknown_one(tmp_path: Path):
    with pytest.raises(ConfigError) as unknown:
        read_settings(written(tmp_path, "site_name: A\ncolour: red\n"))
    assert "service_origin" in unknown.value.advice
    with pytest.raises(ConfigError) as wrong:
        read_settings(written(tmp_path, "site_name: A\njobs_at_once: 0\n"))
    assert wrong.value.advice == ConfigError.advice


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("service_origin: eval.hospital.example", "expected an address without a path, such as"),
        ("trusted_proxy_user_header: 'X User'", "expected the name of a header"),
        ("alert_site_label: <b>", "expected at most 40 letters"),
        ("alert_smtp_host: mail/25", "expected the name or the IP address of a mail server"),
        ("alert_smtp_user: a b", "has characters that are not allowed here"),
    ],
)
def test_a_value_of_the_wrong_form_is_answered_in_words_and_not_with_a_pattern(
    tmp_path: Path, line: str, said: str
):
    with pytest.raises(ConfigError) as refused:
        read_settings(written(tmp_path, f"site_name: A\n{line}\n"))
    assert said in str(refused.value)
    assert "^" not in str(refused.value)


@pytest.mark.parametrize("value", ["yes", "True", "on", "1", "y", "t", "TRUE"])
def test_approval_by_one_account_is_not_set_by_a_word_that_other_settings_take(
    tmp_path: Path, value: str
):
    """`one_account_approval: yes` undid the rule that nobody both authors and approves a submission."""
    name = "unsafe_one_account_approval"
    with pytest.raises(ConfigError, match=f"{name}: expected true or false"):
        read_settings(written(tmp_path, f"site_name: A\n{name}: {value}\n"))
    (tmp_path / "site.yaml").unlink()
    assert read_settings(
        written(tmp_path, f"site_name: A\n{name}: true\n")
    ).unsafe_one_account_approval


def test_the_former_name_of_approval_by_one_account_is_refused_with_the_new_one(tmp_path: Path):
    with pytest.raises(ConfigError, match="renamed to unsafe_one_account_approval"):
        read_settings(written(tmp_path, "site_name: A\none_account_approval: true\n"))


@pytest.mark.parametrize(
    "text", ["- a\n", "site_name: A\nsite_name: B\n", "site_name: {\n", "\x00"]
)
def test_what_is_no_map_of_settings_is_refused(tmp_path: Path, text: str):
    with pytest.raises(ConfigError):
        read_settings(written(tmp_path, text))


def test_a_folder_without_settings_is_no_site(tmp_path: Path):
    with pytest.raises(ConfigError, match="is not a site directory"):
        read_settings(tmp_path / "site.yaml")


def test_a_bundle_of_certificates_is_looked_for_in_the_site_and_an_empty_value_is_none(
    tmp_path: Path,
):
    path = written(tmp_path, "site_name: A\nca_bundle: own.pem\nproxy: ''\n")
    assert (read_settings(path).ca_bundle, read_settings(path).proxy) == (
        tmp_path / "own.pem",
        None,
    )
