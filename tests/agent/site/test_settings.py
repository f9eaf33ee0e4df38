"""Settings: every fault is named at once, no value is quoted, and paths are the site's."""

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
