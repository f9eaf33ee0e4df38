"""Sample the site's texts and store them, encrypted, with their detections for a person to review."""

import random
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.errors import ConfigError
from agent.redaction.gateway.subject import Subject
from agent.redaction.redacted import Withheld
from agent.review.record_marks import read_verdict
from agent.vocabulary import Identifier, Instance, Response

if TYPE_CHECKING:
    from agent.site.directory import Site
    from agent.store import Review, Store

# Minimum length of a text without detections: a reviewer need not read "A" or "yes".
_MIN_WORDS = 4
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class ReviewSampling:
    """The request for a sample.

    Attributes:
        name: name of the review.
        suite: the suite to sample from.
        records: number of records.
        seed: random seed (the same seed chooses the same records), or None to draw one.
    """

    name: str
    suite: str
    records: int
    seed: int | None


@dataclass(frozen=True, slots=True)
class Sampled:
    """The size of a sample: records, texts to review, and texts that were withheld from review."""

    records: int
    texts: int
    withheld: int


@dataclass(frozen=True, slots=True)
class _Record:
    texts: tuple[str, ...]
    identifiers: tuple[Identifier, ...]


def make_review(site: "Site", wanted: ReviewSampling, by: str = "") -> Sampled:
    """Choose records from a suite's runs, detect identifiers in them, and save both in the encrypted store.

    A record is an instance with one answer: prompt, reference answers, answer and reasoning. If several models
    answered the same instance, one of their answers is chosen.

    Args:
        site: the site.
        wanted: the request.
        by: id of the account that asks, for the audit log; empty on the command line.

    Raises:
        ConfigError: the name is invalid or in use, the suite does not exist, or the texts of its runs were purged.
        RedactionError: the redaction policy is invalid.
    """
    from agent.redaction.engine import open_engine

    with site.store() as store:
        _check_name(store, wanted.name)
        seed = secrets.randbits(32) if wanted.seed is None else wanted.seed
        records = _choose_records(store, wanted, seed)
        engine = open_engine(site.settings.redaction_policy, site.directory)
        texts: list[tuple[int, Mapping[str, Any]]] = []
        withheld = 0
        for number, record in enumerate(records, 1):
            detections = engine.find_record(record.texts, record.identifiers)
            for text, spans in zip(record.texts, detections, strict=True):
                if isinstance(spans, Withheld):
                    withheld += 1
                elif spans or len(text.split()) >= _MIN_WORDS:
                    found = [[span.start, span.end, span.entity] for span in spans]
                    texts.append(
                        (number, {"text": text, "found": found, "wrong": [], "missed": []})
                    )
        if not texts:
            raise ConfigError(
                "no text to review: all texts were withheld",
                "Check the limits of the redaction policy.",
            )
        plan = {
            "suite": wanted.suite,
            "seed": seed,
            "policy": engine.policy,
            "records": len(records),
        }
        with store.transaction():
            # Someone else may have taken the name while texts were searched.
            _check_name(store, wanted.name)
            store.reviews.keep(wanted.name, plan, texts)
            detail = f"name={wanted.name} records={len(records)} texts={len(texts)}"
            store.audit.record("review made", detail, by)
    return Sampled(records=len(records), texts=len(texts), withheld=withheld)


def delete_review(store: "Store", name: str, by: str = "") -> None:
    """Delete a sample with its texts and marks, and record the deletion in the audit log.

    Args:
        store: the store.
        name: the sample.
        by: id of the account that asks; empty on the command line.
    """
    with store.transaction():
        store.reviews.delete(name)
        store.audit.record("review deleted", f"name={name}", by)


def _check_name(store: "Store", name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ConfigError(
            "the name of a review must be 1 to 64 letters, digits, dots, dashes and underscores",
            "Choose another name.",
        )
    if store.reviews.find(name) is not None:
        raise ConfigError(
            f"a review named {name} already exists",
            f"Choose another name, or delete it with `intramural redact review delete {name}`.",
        )


def _choose_records(store: "Store", wanted: ReviewSampling, seed: int) -> list[_Record]:
    """Return randomly chosen records: as many as requested, or all that have texts."""
    store.runs.require_suite(wanted.suite)
    answers: list[tuple[str, int]] = []
    # Samples are for every reviewer, and so they have no text of a run that its owner keeps from others.
    shown = [run for run in store.runs.select(wanted.suite) if not run.is_private]
    for run in shown:
        for position in range(store.answers.count_instances(run.run_id)):
            answers.append((run.run_id, position))
    random.Random(seed).shuffle(answers)  # noqa: S311 (a sample, not a secret)
    chosen: dict[bytes, _Record] = {}
    for run_id, position in answers:
        if len(chosen) == wanted.records:
            break
        for stored in store.answers.read_each_instance(run_id, [position]):
            if stored.instance is not None and stored.response is not None:
                chosen.setdefault(
                    stored.instance_key, _build_record(stored.instance, stored.response)
                )
    if not chosen:
        raise ConfigError(
            f"suite {wanted.suite} has no texts to review: it has no answers yet, its texts were purged, or its "
            "runs are private",
            "Run the suite first, or show its runs to others.",
        )
    return list(chosen.values())


def _build_record(instance: Instance, response: Response) -> _Record:
    texts = list_texts(instance, response)
    return _Record(texts=tuple(texts), identifiers=Subject.read_instance(instance).identifiers)


def list_texts(instance: Instance, response: Response | None) -> list[str]:
    """Return the texts of an instance and its answer that a reviewer would read, each once."""
    texts = [message.content for message in instance.messages]
    texts += [reference.text for reference in instance.references]
    if response is not None:
        texts += [response.text, response.reasoning]
    # A reviewer need not read the same text twice, or a text without letters and digits.
    return list(dict.fromkeys(text for text in texts if any(map(str.isalnum, text))))


def reveal_gold_rows(store: "Store", name: str, by: str = "") -> list[dict[str, Any]]:
    """Return the reviewed texts of a sample, with every identifier annotated, in the format of `redact bench`.

    They are original texts. The audit log says so before they are returned.

    Args:
        store: the store.
        name: the sample.
        by: id of the account that asks; empty on the command line.

    Raises:
        ConfigError: no text was reviewed yet.
    """
    from agent.redaction.gateway.cases import Revealing, add_system_account

    rows = list(_list_gold_rows(store, name))
    if not rows:
        raise ConfigError(
            f"no text of review {name} has been reviewed yet",
            f"Run `intramural redact review mark {name}`.",
        )
    revealing = Revealing(
        lambda event: store.audit.record("reveal", add_system_account(event, by), by), "review"
    )
    revealing.clear_records([[row["text"] for row in rows]], f"name={name} gold={len(rows)}")
    return rows


def _list_gold_rows(store: "Store", name: str) -> Iterator[dict[str, Any]]:
    for text in store.reviews.read_texts(name):
        if text.figures is None or text.content is None:
            continue
        yield {
            "id": f"{name}-{text.item}",
            "text": text.content["text"],
            "spans": [
                [span.start, span.end, span.entity] for span in read_verdict(text).list_gold()
            ],
        }


def require_review(store: "Store", name: str) -> "Review":
    """Return the review with this name. Raises ConfigError if there is none."""
    review = store.reviews.find(name)
    if review is None:
        reviews = ", ".join(review.name for review in store.reviews.read_all()) or "none"
        raise ConfigError(
            f"unknown review {name} (existing: {reviews})",
            "Create one with `intramural redact review new`.",
        )
    return review
