"""Where a dataset is looked for: missing files, and keys that are taken for data."""

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.datasets.load import locate_dataset
from agent.errors import BenchmarkError
from tests.agent.datasets.own import CANARY
from tests.agent.datasets.plain_files import HEAD, json_benchmark, write_own


def test_files_that_are_missing_are_counted_and_not_named(tmp_path):
    folder = json_benchmark(tmp_path, "json_lines", '{"q": "x", "a": "y"}\n')
    yaml = folder / "benchmark.yaml"
    yaml.write_text(
        yaml.read_text().replace(
            "{name: data.json}", f"{{name: data.json}}, {{name: {CANARY}.json}}"
        )
    )
    dataset = locate_dataset(load_benchmark(folder), tmp_path / "data")
    assert dataset.problems == (
        "1 of 2 files are missing",
        "no published digest to compare with",
    )


def test_a_folder_with_one_file_of_another_name_is_counted_in_the_singular(tmp_path):
    folder = json_benchmark(tmp_path, "json_lines", '{"q": "x", "a": "y"}\n')
    yaml = folder / "benchmark.yaml"
    yaml.write_text(yaml.read_text().replace("{name: data.json}", "{name: part-*.json}"))
    with pytest.raises(BenchmarkError, match=r"expected part-\*\.json in .*, found 1 file$"):
        locate_dataset(load_benchmark(folder), tmp_path / "data")


@pytest.mark.parametrize(
    "secret", ["ab" * 32 + "\n", "-----BEGIN PRIVATE KEY-----\nMC4CAQ\n-----END PRIVATE KEY-----\n"]
)
def test_a_key_taken_for_a_dataset_is_not_read(tmp_path, secret):
    benchmark = load_benchmark(write_own(tmp_path, HEAD + "n,q,a\n"))
    (tmp_path / "keys").mkdir()
    for place in (tmp_path / "data.csv", tmp_path / "elsewhere.pem", tmp_path / "keys" / "token"):
        place.write_text(secret)
    with pytest.raises(BenchmarkError, match=r"^data\.csv: looks like a private key"):
        locate_dataset(benchmark)
    with pytest.raises(BenchmarkError, match="looks like a private key"):
        locate_dataset(benchmark, None, {"data_path": str(tmp_path / "elsewhere.pem")})
    (tmp_path / "keys" / "token").write_text(HEAD + "a bearer token,q,a\n")
    (tmp_path / "innocent").symlink_to(tmp_path / "keys")
    for path in (
        tmp_path / "keys" / "token",
        tmp_path / "keys",
        tmp_path / "innocent" / "token",
        "innocent",
    ):
        with pytest.raises(BenchmarkError, match="files inside a folder named keys"):
            locate_dataset(benchmark, None, {"data_path": str(tmp_path / path)})


def test_a_link_among_the_sites_data_does_not_lead_to_its_keys(tmp_path):
    folder = json_benchmark(tmp_path, "json_lines", "")
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "token").write_text('{"q": "secret", "a": "secret"}\n')
    for name in ("data.json", "other.json"):  # under the official name, and as the only file there
        (tmp_path / "data" / "b" / "data.json").unlink(missing_ok=True)
        link = tmp_path / "data" / "b" / name
        link.symlink_to(tmp_path / "keys" / "token")
        with pytest.raises(BenchmarkError, match="files inside a folder named keys"):
            locate_dataset(load_benchmark(folder), tmp_path / "data")
