"""Every part of a dataset is read."""

import pytest

from agent.errors import BenchmarkError
from tests.agent.datasets.manage.given_data import a_folder, add, broken, intramural, with_parts


def test_what_takes_several_passes_says_so(site, tmp_path):
    with_parts(site)
    done = intramural(site, "datasets", "add", "own", a_folder(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[:2] == [
        "reading own: ward=north (1 of 2)",
        "reading own: ward=south (2 of 2)",
    ]


def test_every_part_of_a_folder_is_checked(site, tmp_path):
    folder = a_folder(tmp_path)
    for ward in ("north", "south"):
        (folder / "wards" / f"{ward}.csv").write_text(broken(answer="?"))
    with pytest.raises(BenchmarkError) as caught:
        add(site, with_parts(site), folder)
    assert "north.csv: row 4" in str(caught.value)
    assert "south.csv: row 4" in str(caught.value)
