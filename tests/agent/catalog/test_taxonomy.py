"""MedHELM's taxonomy."""

from agent.catalog.taxonomy import taxonomy


def test_medhelms_taxonomy_is_whole():
    tree = taxonomy()
    assert len(tree) == 5
    assert sum(map(len, tree.values())) == 22
    assert len(set().union(*tree.values())) == 22
