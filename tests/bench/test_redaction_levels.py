"""The picture and the table of the levels are those of the measured points, and the levels are in order."""

from xml.etree import ElementTree

from tests.bench.redaction_levels import (
    PAGE,
    PICTURE,
    draw,
    read_points,
    replace_table,
    write_points,
    write_table,
)


def test_the_picture_and_the_table_are_made_from_the_points():
    points = read_points()
    assert PICTURE.read_bytes() == draw(points)
    page = PAGE.read_text("utf-8")
    assert replace_table(page, write_table(points)) == page
    described = ElementTree.fromstring(PICTURE.read_bytes()).find("{*}desc")
    assert described is not None
    for point in points:
        assert not point.level or f"{point.level} {point.recall:.3f} found" in (
            described.text or ""
        )


def test_points_are_read_as_they_were_written(monkeypatch, tmp_path):
    points = read_points()
    monkeypatch.setattr("tests.bench.redaction_levels.POINTS", tmp_path / "points.tsv")
    write_points(points)
    assert read_points() == points


def test_each_level_finds_more_and_takes_more_than_the_one_before():
    readable, default, strict = (point for point in read_points() if point.level)
    assert [readable.level, default.level, strict.level] == ["readable", "default", "strict"]
    assert readable.recall < default.recall < strict.recall
    assert readable.tags < default.tags < strict.tags
