"""The patient and the id of a row, by whatever columns a file has."""

from tests.agent.datasets.sources.gated import load, problem, write_csv


def test_a_file_that_names_patients_groups_their_rows_and_one_that_does_not_keeps_them_apart(
    tmp_path,
):
    rows = [["Q", "c1", "A", "p1"], ["Q", "c2", "B", "p2"], ["Q", "c3", "B", "p1"]]
    named = write_csv(tmp_path / "a.csv", ["prompt", "context", "label", "person_id"], *rows)
    assert [instance.unit for instance in load("shc_cdi_med", named)] == ["p1", "p2", "p1"]
    unnamed = write_csv(
        tmp_path / "b.csv", ["prompt", "context", "label"], *(row[:3] for row in rows)
    )
    assert [instance.unit for instance in load("shc_cdi_med", unnamed)] == ["1", "2", "3"]
    gap = write_csv(
        tmp_path / "c.csv", ["prompt", "context", "label", "mrn"], *rows, ["Q", "c4", "A", " "]
    )
    assert "row 4 (line 5): the column 'mrn' does not contain a patient identifier" in problem(
        "shc_cdi_med", gap
    )


def test_ids_of_the_file_are_kept_and_may_not_repeat(tmp_path):
    header = ["id", "prompt", "context", "label"]
    data = write_csv(tmp_path / "a.csv", header, ["n7", "Q", "c", "A"], ["n8", "Q", "c", "B"])
    assert [instance.id for instance in load("shc_gip_med", data)] == ["n7", "n8"]
    data = write_csv(tmp_path / "b.csv", header, ["n7", "Q", "c", "A"], ["n7", "Q", "c", "B"])
    assert "row 2 (line 3): has the same 'row_id' as row 1" in problem("shc_gip_med", data)
