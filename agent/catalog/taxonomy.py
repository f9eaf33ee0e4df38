"""MedHELM's categories and subcategories."""

from functools import cache

from agent.errors import BenchmarkError
from agent.io.packaged import shipped
from agent.io.yaml_map import read_yaml


@cache
def taxonomy() -> dict[str, tuple[str, ...]]:
    """Return MedHELM's 5 categories with their subcategories (22 in total), in MedHELM's order."""
    path = shipped("benchmarks") / "taxonomy.yaml"
    tree = read_yaml(path, BenchmarkError)
    names = tree.texts("categories")
    subcategories = tree.map("subcategories")
    categories = {name: subcategories.texts(name) for name in names} if subcategories else {}
    tree.finish()
    if tree.problems or not categories:
        raise BenchmarkError(f"{path}: {'; '.join(tree.problems) or 'no categories'}")
    return categories
