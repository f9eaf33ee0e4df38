"""A sample of the site's texts, with what redaction finds in them, kept sealed for a person to check."""

import random
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.errors import ConfigError
from agent.redaction.gateway.subject import Whose
from agent.redaction.redacted import Withheld
from agent.review.marking import MarkedSpan, ReviewVerdict
from agent.vocabulary import Identifier, Instance, Response

if TYPE_CHECKING:
    from agent.site.directory import Site
    from agent.store import Store

_FEWEST_WORDS = 4  # of a text in which nothing was found: nobody need read "A" or "yes"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True)
class ReviewSampling:
    """What to sample.

    Attributes:
        name: what the review is called.
        suite: of whose runs the records are.
        records: how many.
        seed: the same seed chooses the same records; None: any.
    """

    name: str
    suite: str
    records: int
    seed: int | None


@dataclass(frozen=True, slots=True)
class Sampled:
    """What was sampled: records, texts to be checked, and texts that were withheld and so cannot show anything."""

    records: int
    texts: int
    withheld: int


@dataclass(frozen=True, slots=True)
class _Record:
    texts: tuple[str, ...]
    identifiers: tuple[Identifier, ...]


def make_review(site: "Site", wanted: ReviewSampling) -> Sampled:
    """Choose records of a suite's runs, find identifiers in them, and keep both sealed in the store.

    A record is an instance with one answer: prompt, reference answers, answer and reasoning. Of several models'
    answers to the same instance one is chosen.

    Raises:
        ConfigError: the name is taken or none, there is no such suite, or the texts of its runs are gone.
        RedactionError: the redaction policy is wrong.
    """
    from agent.redaction.engine import open_engine

    with site.store() as store:
        _check_name(store, wanted.name)
        seed = secrets.randbits(32) if wanted.seed is None else wanted.seed
        records = _choose(store, wanted, seed)
        engine = open_engine(site.settings.redaction_policy, site.directory)
        kept: list[tuple[int, Mapping[str, Any]]] = []
        withheld = 0
        for number, record in enumerate(records, 1):
            for text, found in zip(record.texts, engine.find_record(record.texts, record.identifiers), strict=True):
                if isinstance(found, Withheld):
                    withheld += 1
                elif found or len(text.split()) >= _FEWEST_WORDS:
                    places = [[span.start, span.end, span.entity] for span in found]
                    kept.append((number, {"text": text, "found": places, "wrong": [], "missed": []}))
        if not kept:
            raise ConfigError("there is no text to review: all were withheld", "Look at the policy's limits.")
        plan = {"suite": wanted.suite, "seed": seed, "policy": engine.policy, "records": len(records)}
        with store.transaction():
            store.reviews.keep(wanted.name, plan, kept)
            store.audit.record("review made", f"name={wanted.name} records={len(records)} texts={len(kept)}")
    return Sampled(len(records), len(kept), withheld)


def _check_name(store: "Store", name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ConfigError(
            "the name of a review is 1 to 64 letters, digits, dots, dashes and underscores", "Choose another name."
        )
    if store.reviews.find(name) is not None:
        raise ConfigError(
            f"there is a review {name} already",
            f"Choose another name, or let go of it with `intramural redact review delete {name}`.",
        )


def _choose(store: "Store", wanted: ReviewSampling, seed: int) -> list[_Record]:
    """Return the chosen records, as many as there are texts of, in an order of chance."""
    store.runs.require_suite(wanted.suite)
    chance = random.Random(seed)  # noqa: S311 (a sample, no secret)
    places = [
        (run.run_id, at)
        for run in store.runs.select(wanted.suite)
        for at in range(store.answers.count_instances(run.run_id))
    ]
    chance.shuffle(places)
    chosen: dict[bytes, _Record] = {}
    for run_id, at in places:
        if len(chosen) == wanted.records:
            break
        for stored in store.answers.read_each_instance(run_id, [at]):
            if stored.instance is not None and stored.response is not None:
                chosen.setdefault(stored.instance_key, _record(stored.instance, stored.response))
    if not chosen:
        raise ConfigError(
            f"suite {wanted.suite} has no texts to review: nothing is answered yet, or a purge took them",
            "Run it first.",
        )
    return list(chosen.values())


def _record(instance: Instance, response: Response) -> _Record:
    texts = [message.content for message in instance.messages]
    texts += [reference.text for reference in instance.references]
    texts += [response.text, response.reasoning]
    # A text that stands in a record twice is looked at once.
    return _Record(
        tuple(dict.fromkeys(text for text in texts if any(map(str.isalnum, text)))), Whose.of(instance).identifiers
    )


def gold_rows(store: "Store", name: str) -> Iterator[dict[str, Any]]:
    """Yield the reviewed texts of a sample with every identifier in them, in the form that `redact bench` reads."""
    for text in store.reviews.read_texts(name):
        if text.figures is None or text.content is None:
            continue
        content = text.content
        found, missed = (tuple(MarkedSpan(*each) for each in content[key]) for key in ("found", "missed"))
        gold = ReviewVerdict(found, frozenset(content["wrong"]), missed).gold()
        yield {
            "id": f"{name}-{text.item}",
            "text": content["text"],
            "spans": [[place.start, place.end, place.entity] for place in gold],
        }


def require_review(store: "Store", name: str) -> None:
    """Raise ConfigError unless there is such a review."""
    if store.reviews.find(name) is None:
        known = ", ".join(review.name for review in store.reviews.read_all()) or "none"
        raise ConfigError(
            f"there is no review {name} (known: {known})", "Make one with `intramural redact review new`."
        )
