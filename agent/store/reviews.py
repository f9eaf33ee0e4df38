"""Samples of texts whose redaction a person checks. Texts and marks are sealed; counts are not encrypted."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.store.clock import StoreClock
from agent.store.database import Database


@dataclass(frozen=True, slots=True)
class Review:
    """One sample. `plan` contains the policy and rules by which identifiers were found, and the origin of the texts."""

    name: str
    plan: Mapping[str, Any]
    made_at: int  # seconds since 1970
    texts: int
    reviewed: int


@dataclass(frozen=True, slots=True)
class ReviewedText:
    """One text of a sample.

    Attributes:
        item: number of the text in the sample, from 1.
        record: number of the record that the text belongs to.
        content: the text and its marked spans; None once purged.
        figures: kind of identifier -> (correctly found, missed, wrongly found); None until the text is reviewed.
    """

    item: int
    record: int
    content: Mapping[str, Any] | None
    figures: Mapping[str, tuple[int, int, int]] | None


@dataclass(frozen=True, slots=True)
class RecordState:
    """How far one record of a sample is reviewed.

    Attributes:
        record: number of the record in the sample.
        texts: number of its texts.
        reviewed: number of them that are reviewed.
        purged: number of them that were purged before their review.
    """

    record: int
    texts: int
    reviewed: int
    purged: int

    @property
    def is_open(self) -> bool:
        """Whether a text remains to be reviewed."""
        return self.reviewed + self.purged < self.texts


class Reviews:
    """The stored samples of texts whose redaction a person reviews."""

    def __init__(self, database: Database, clock: StoreClock) -> None:
        self._database = database
        self._connection = database.connection
        self._vault = database.vault
        self._clock = clock

    def keep(
        self, name: str, plan: Mapping[str, Any], texts: Sequence[tuple[int, Mapping[str, Any]]]
    ) -> None:
        """Store a new sample of pairs (record, content)."""
        with self._database.transaction():
            sealed_plan = self._vault.seal(_bind(name), json.dumps(plan).encode())
            self._connection.execute(
                "INSERT INTO reviews VALUES (?, ?, ?)", (name, sealed_plan, self._clock.stamp())
            )
            rows = []
            for item, (record, content) in enumerate(texts, 1):
                rows.append((name, item, record, self._seal_text(name, item, content)))
            self._connection.executemany(
                "INSERT INTO reviewed_texts VALUES (?, ?, ?, ?, NULL)", rows
            )

    def read_all(self) -> list[Review]:
        """Return every sample, sorted by name."""
        rows = self._connection.execute(
            "SELECT name, sealed, made_at, (SELECT count(*) FROM reviewed_texts WHERE review = name),"
            " (SELECT count(figures) FROM reviewed_texts WHERE review = name) FROM reviews ORDER BY name"
        ).fetchall()
        reviews = []
        for name, sealed, made_at, texts, reviewed in rows:
            plan = json.loads(self._vault.open(_bind(name), sealed))
            reviews.append(
                Review(name=name, plan=plan, made_at=made_at, texts=texts, reviewed=reviewed)
            )
        return reviews

    def find(self, name: str) -> Review | None:
        """Return the sample with this name, or None."""
        return next((review for review in self.read_all() if review.name == name), None)

    def read_states(self, name: str) -> list[RecordState]:
        """Return how far each record of a sample is reviewed, in order, without opening a text."""
        rows = self._connection.execute(
            "SELECT record, count(*), count(figures), sum(figures IS NULL AND sealed IS NULL) FROM reviewed_texts"
            " WHERE review = ? GROUP BY record ORDER BY record",
            (name,),
        ).fetchall()
        return [RecordState(*row) for row in rows]

    def read_texts(self, name: str, record: int | None = None) -> list[ReviewedText]:
        """Return the texts of a sample, or of one record of it, in order."""
        rows = self._connection.execute(
            "SELECT item, record, sealed, figures FROM reviewed_texts"
            " WHERE review = ? AND (? IS NULL OR record = ?) ORDER BY item",
            (name, record, record),
        ).fetchall()
        texts = []
        for item, number, sealed, figures in rows:
            content = (
                None if sealed is None else json.loads(self._vault.open(_bind(name, item), sealed))
            )
            texts.append(
                ReviewedText(
                    item=item, record=number, content=content, figures=_read_figures(figures)
                )
            )
        return texts

    def keep_text(
        self,
        name: str,
        item: int,
        content: Mapping[str, Any],
        figures: Mapping[str, tuple[int, int, int]] | None,
    ) -> None:
        """Store the reviewer's marks in one text, replacing any earlier ones.

        Without `figures`, they are stored as marks of a text that is still to be reviewed.
        """
        with self._database.transaction():
            self._connection.execute(
                "UPDATE reviewed_texts SET sealed = ?, figures = ? WHERE review = ? AND item = ?",
                (
                    self._seal_text(name, item, content),
                    None if figures is None else json.dumps(figures, sort_keys=True),
                    name,
                    item,
                ),
            )

    def purge_text(self, name: str, item: int) -> None:
        """Delete one text of a sample with the marks in it; their counts stay."""
        with self._database.transaction():
            self._connection.execute(
                "UPDATE reviewed_texts SET sealed = NULL WHERE review = ? AND item = ?",
                (name, item),
            )

    def delete(self, name: str) -> None:
        """Delete a sample with its texts, marks and counts."""
        with self._database.transaction():
            self._connection.execute("DELETE FROM reviewed_texts WHERE review = ?", (name,))
            self._connection.execute("DELETE FROM reviews WHERE name = ?", (name,))

    def _seal_text(self, name: str, item: int, content: Mapping[str, Any]) -> bytes:
        return self._vault.seal(_bind(name, item), json.dumps(content).encode())


def _read_figures(figures: str | None) -> dict[str, tuple[int, int, int]] | None:
    if figures is None:
        return None
    figures_by_kind: dict[str, tuple[int, int, int]] = {}
    for kind, (rightly_found, missed, wrongly_found) in json.loads(figures).items():
        figures_by_kind[kind] = (rightly_found, missed, wrongly_found)
    return figures_by_kind


def _bind(name: str, item: int = 0) -> bytes:
    """Return the context that a sealed value is bound to, so that sealed values cannot be swapped."""
    return b"review\0" + name.encode() + b"\0" + str(item).encode()
