"""A reader's selection for a leaderboard: filters and an order, as a query string or as a pre-built page.

Filters of columns (access level, category, subcategory) and the minimum number of sites change
which figures are compared, so win rates are recomputed from what is shown. Filters of models only
hide rows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final
from urllib.parse import urlencode

from protocol.registry import Model
from protocol.scorecard import Access

ACCESS_LEVELS: Final[tuple[Access, ...]] = ("public", "gated", "private")
MINIMUM_SITES = (2, 3, 5, 10)
SIZES = {
    "small": "up to 10 billion",
    "medium": "10 to 80 billion",
    "large": "over 80 billion",
    "unknown": "not known",
}
"""Classes of model size, by the word used in addresses."""
SORTS = {
    "win-rate": "mean win rate",
    "macro-average": "macro-average",
    "name": "name",
    "sites": "number of sites",
}
"""Orders of a leaderboard, other than by category."""
CATEGORY_SORT = "category-"  # followed by the slug of a category


class UnknownChoiceError(ValueError):
    """A query names a filter or value that this board does not have."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Filters and order of a leaderboard. An empty string, False or 0 means no filter.

    Attributes:
        category, subcategory, family: Slugs of names in the scorecard and the registry.
        size: A key of `SIZES`.
        planned: Show only models whose results were all announced in the log beforehand.
        sites: Show only figures from at least this number of sites.
        sort: A key of `SORTS`, or CATEGORY_SORT followed by the slug of a category.
    """

    access: str = ""
    category: str = ""
    subcategory: str = ""
    family: str = ""
    size: str = ""
    planned: bool = False
    sites: int = 0
    sort: str = "win-rate"

    @property
    def filters_columns(self) -> bool:
        """Whether figures are left out, so that win rates differ from those of the full board."""
        return bool(self.access or self.category or self.subcategory or self.sites)

    @property
    def filters_models(self) -> bool:
        """Whether rows are hidden."""
        return bool(self.family or self.size or self.planned)

    def chosen(self) -> dict[str, str]:
        """Return the fields that differ from the full board, as query parameters."""
        words = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                words[field.name] = "yes" if value is True else str(value)
        return words

    def query(self) -> str:
        """Return the query string; empty for the full board."""
        return urlencode(self.chosen())

    def page(self) -> str | None:
        """Return the file name of the pre-built page; None for a combination that has none.

        Pre-built pages have one filter in the default order, or one order without a filter. This
        limits the size of the published folder.
        """
        words = self.chosen()
        if len(words) > 1:
            return None
        if not words:
            return "index.html"
        ((name, value),) = words.items()
        return f"by/{name}-{value}.html"

    def changed(self, **choice: str | bool | int) -> "Selection":
        """Return a copy with the given fields changed."""
        return replace(self, **choice)  # type: ignore[arg-type]


def parse_query(query: Mapping[str, str]) -> Selection:
    """Parse query parameters. An empty value, as forms send it, means no filter.

    Raises:
        UnknownChoiceError: a name or value is unknown. Slugs are checked later, against the board.
    """
    selection = Selection()
    for name, word in query.items():
        if not word:
            continue
        match name:
            case "access" if word in ACCESS_LEVELS:
                selection = replace(selection, access=word)
            case "size" if word in SIZES:
                selection = replace(selection, size=word)
            case "category" | "subcategory" | "family":
                selection = selection.changed(**{name: word})
            case "planned" if word == "yes":
                selection = replace(selection, planned=True)
            case "sites" if (
                word.isascii() and word.isdecimal() and len(word) <= 4 and int(word) >= 1
            ):
                selection = replace(selection, sites=int(word))
            case "sort" if word in SORTS or word.startswith(CATEGORY_SORT):
                selection = replace(selection, sort=word)
            case _:
                raise UnknownChoiceError(name)
    return selection


def slug(text: str) -> str:
    """Return text as part of an address: lower-case letters, digits and single hyphens; `other` if nothing remains."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "other"


def size_class(model: Model) -> str:
    """Return the key of `SIZES` for a model's registered number of parameters."""
    millions = model.parameters_millions
    if millions == 0:
        return "unknown"
    if millions <= 10_000:
        return "small"
    return "medium" if millions <= 80_000 else "large"
