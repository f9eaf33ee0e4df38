"""Files that a definition names: none is a key, and none lies elsewhere."""

from pathlib import Path

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.errors import BenchmarkError
from tests.agent.catalog.definitions import GOOD, JUDGE_PROMPT, definition, refused

SECRET = "ab" * 32 + "\n"


@pytest.fixture
def site(tmp_path):
    """A site directory with keys, and the folder of its own benchmarks, which is returned."""
    (tmp_path / "site" / "keys").mkdir(parents=True)
    (tmp_path / "site" / "keys" / "data.key").write_text(SECRET)
    (tmp_path / "site" / "keys" / "token").write_text("a bearer token")
    (tmp_path / "site" / "benchmarks").mkdir()
    return tmp_path / "site" / "benchmarks"


def naming(folder: Path, key: str, name: str) -> Path:
    """Write a definition whose `key` names the file."""
    (folder / "judge.txt").write_text(JUDGE_PROMPT)
    text = (
        GOOD
        + "  - name: jury_score\n    prompt_file: judge.txt\n    judges: [{name: a/b, model_name: a/b}]\n"
    )
    was = {
        "prompt_file": "prompt_file: prompt.txt",
        "dataset_file": "dataset_file: data.csv",
        "judge": "judge.txt",
    }[key]
    new = f"{key}: {name}" if key != "judge" else name
    return definition(folder, text.replace(was, new, 1))


@pytest.mark.parametrize("key", ["prompt_file", "dataset_file", "judge"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../keys/data.key", "expected a path that stays in its folder"),
        ("../benchmarks/other.txt", "expected a path that stays in its folder"),
        (
            "keys/token",
            "files inside a folder named keys",
        ),  # found from the site as working directory
        ("linked/token", "is a link that leads out of its folder"),
        ("link.txt", "is a link that leads out of its folder"),
        ("inner/Keys/token", "files inside a folder named keys"),
        ("{site}/keys/token", "expected a path relative to the definition, not an absolute path"),
        (".", "is not a regular file"),
        ('"prompt\\e[2J.txt"', "contains U+001B, an invisible character"),
        ('"prompt\\0.txt"', "contains U+0000, an invisible character"),
    ],
)
def test_a_definition_that_names_the_sites_keys_or_leaves_its_folder(
    site, monkeypatch, key, name, said
):
    monkeypatch.chdir(site.parent)
    (site / "linked").symlink_to(site.parent / "keys")
    (site / "link.txt").symlink_to(site.parent / "keys" / "token")
    (site / "inner" / "Keys").mkdir(parents=True)
    (site / "inner" / "Keys" / "token").write_text("a token")
    assert said in refused(naming(site, key, name.format(site=site.parent)))


@pytest.mark.parametrize("key", ["prompt_file", "dataset_file", "judge"])
def test_a_definition_that_a_user_names_may_give_absolute_paths_but_not_of_keys(
    site, tmp_path, key
):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "file.txt").write_text(JUDGE_PROMPT if key == "judge" else "{note}")
    path = naming(site, key, str(tmp_path / "far" / "file.txt"))
    load_benchmark(path, absolute_paths=True)
    (tmp_path / "far" / "link.txt").symlink_to(site.parent / "keys" / "token")
    for name in (tmp_path / "far" / "link.txt", site.parent / "keys" / "token"):
        with pytest.raises(BenchmarkError, match="files inside a folder named keys"):
            load_benchmark(naming(site, key, str(name)), absolute_paths=True)


def test_the_folder_of_keys_as_working_directory(site, monkeypatch):
    monkeypatch.chdir(site.parent / "keys")
    assert "files inside a folder named keys" in refused(naming(site, "prompt_file", "token"))


def test_a_link_within_the_folder_is_followed(site):
    (site / "texts").mkdir()
    (site / "texts" / "real.txt").write_text("Note: {note}")
    (site / "link.txt").symlink_to(site / "texts" / "real.txt")
    assert load_benchmark(naming(site, "prompt_file", "link.txt")).template == "Note: {note}"


def test_the_root_of_the_file_system_is_no_working_directory(site, monkeypatch):
    monkeypatch.chdir("/")
    inside = str(site.parent / "site.yaml").lstrip("/")
    (site.parent / "site.yaml").write_text("site_name: x\n")
    assert "cannot be read" in refused(naming(site, "prompt_file", inside))


@pytest.mark.parametrize("key", ["prompt_file", "judge"])
@pytest.mark.parametrize(
    "secret", [SECRET, SECRET.upper(), "\n-----BEGIN PRIVATE KEY-----\nMC4CAQ\n"]
)
def test_a_key_that_lies_elsewhere_is_no_prompt(tmp_path, key, secret):
    (tmp_path / "copy.txt").write_text(secret)
    said = refused(naming(tmp_path, key, "copy.txt"))
    assert "looks like a private key" in said
    assert secret.strip() not in said
