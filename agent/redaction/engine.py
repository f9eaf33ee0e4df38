"""The redaction engine: Presidio's analyzer and anonymizer around our own rules, networks and identity table.

A text is read (`reading`), searched (`finding`, and by `identity` with the other texts of its record), and written anew
(`writing`). Models are read from disk when the engine is opened; nothing is ever fetched over a network.

Imported within functions, or by modules that are, because Presidio and spaCy take about a second to import.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType

import presidio_analyzer.pattern_recognizer
from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

from agent.errors import RedactionError
from agent.redaction.deadline import Deadline
from agent.redaction.finding.model import ModelRecognizer, NoModelError
from agent.redaction.finding.own_rules import Phrases
from agent.redaction.finding.recognizers import PRESIDIO_ENTITIES, ContextOfDoubt
from agent.redaction.finding.tokenizer import TokenizerEngine
from agent.redaction.identity.table import KnownValues, search
from agent.redaction.languages import build_recognizers, everyday, family_names, given_names, is_common
from agent.redaction.measuring.admission import check_admitted
from agent.redaction.policy import RedactionPolicy, load_policy
from agent.redaction.proof import proven
from agent.redaction.reading.folding import without_invisible
from agent.redaction.reading.views import OPAQUE, View, views_of
from agent.redaction.redacted import Redacted, Withheld, cleared
from agent.redaction.remembered import Findings, Remembered, Shelf
from agent.redaction.rules import rules_digest
from agent.redaction.spans import Span, united
from agent.redaction.writing.operators import Operators, RecordOperators
from agent.vocabulary import Identifier

_LIBRARY_LOGGERS = ("presidio-analyzer", "presidio-anonymizer", "decision_process", "spacy", "tldextract", "filelock")
_CHUNK = 20_000  # characters looked at together; Presidio's own steps grow with the square of the findings
_LOOKS = 3  # that models take at a text at most, once something in it is known
_MOST_VALUES = 10_000  # different identifiers of one record; who is who among more would take minutes
_OVERLAP = 500  # characters; longer than any identifier but the longest address line


_Known = tuple[KnownValues, KnownValues]  # as given, and as found


@dataclass(frozen=True, slots=True)
class _Field:
    """A text that can be judged: how it can be read, and what was found in each reading."""

    text: str
    views: tuple[View, ...]
    found: Findings

    def values(self) -> Iterator[tuple[str, str]]:
        """Yield what was found, as (entity, value)."""
        for view, spans in zip(self.views, self.found, strict=True):
            yield from ((span.entity, view.text[span.start : span.end]) for span in spans)


@dataclass(frozen=True, slots=True)
class _Located:
    """A text with the places that must not be shown, and what each of them reads."""

    text: str
    spans: tuple[Span, ...]
    values: tuple[str, ...]

    def found(self) -> Iterator[tuple[str, str]]:
        """Yield what was found, as (entity, value)."""
        yield from ((span.entity, value) for span, value in zip(self.spans, self.values, strict=True))


class Engine:
    """A `Redactor`. Not for several threads at once."""

    def __init__(self, policy: RedactionPolicy, key: bytes | None = None) -> None:
        self._policy = policy
        self._deadline = Deadline()
        self._tokenizer = TokenizerEngine(policy.languages)
        recognizers = build_recognizers(policy, self._deadline)
        known = {PRESIDIO_ENTITIES.get(e, e) for r in recognizers for e in r.supported_entities}
        if missing := set(policy.entities) - known:
            raise RedactionError(
                f"redaction policy {policy.name}: no recogniser of its languages ({', '.join(policy.languages)}) finds "
                f"{', '.join(sorted(missing))}",
                "Take these out of `entities`, add a language that finds them, or add recognisers of your own.",
            )
        self._wanted = [
            e for r in recognizers for e in r.supported_entities if PRESIDIO_ENTITIES.get(e, e) in policy.entities
        ]
        self._analyzer = AnalyzerEngine(
            registry=RecognizerRegistry(recognizers=recognizers, supported_languages=list(policy.languages)),
            nlp_engine=self._tokenizer,
            supported_languages=list(policy.languages),
            context_aware_enhancer=ContextOfDoubt(policy.threshold),
        )
        self._models = [recognizer for recognizer in recognizers if isinstance(recognizer, ModelRecognizer)]
        self._anonymizer = AnonymizerEngine()  # type: ignore[no-untyped-call]
        self._withheld: Counter[Withheld] = Counter()
        self._remembered = Remembered()
        self._everyday = everyday(policy)
        self._is_common = is_common(policy)
        self._allowed = Phrases(policy.allow)
        self._operators = Operators(
            policy,
            key or secrets.token_bytes(32),
            datetime.now(UTC).year,
            given_names(policy),
            family_names(policy),
        )

    def remember_on(self, shelf: Shelf) -> None:
        """Take findings of texts that were searched before by the same rules from `shelf`, and put new ones there."""
        self._remembered = Remembered(shelf=shelf, rules=rules_digest(self._policy))

    def remember_at_most(self, findings: int) -> None:
        """Remember no more than so many findings: texts of a stream seldom come again."""
        self._remembered = Remembered(findings)

    @property
    def policy(self) -> str:
        """Name and version of the policy."""
        return f"{self._policy.name} {self._policy.version}"

    @property
    def withheld(self) -> Mapping[Withheld, int]:
        """Fields withheld so far, by reason."""
        return MappingProxyType(self._withheld)

    def redact(self, text: str) -> Redacted:
        """Clear one text that stands alone."""
        return self.redact_record([text])[0]

    def redact_record(
        self, texts: Sequence[str], identifiers: Sequence[Identifier] = (), unit: str | None = None
    ) -> list[Redacted]:
        """Clear the texts of one record together; see `agent.redaction.Redactor`."""
        return [text for text, _ in self.redact_and_find(texts, identifiers, unit)]

    def redact_and_find(
        self, texts: Sequence[str], identifiers: Sequence[Identifier] = (), unit: str | None = None
    ) -> list[tuple[Redacted, tuple[Span, ...] | Withheld]]:
        """Clear the texts of one record together, and return beside each what `find_record` returns of it."""
        located = self._locate(texts, identifiers)
        clear = [one for one in located if isinstance(one, _Located)]
        values = [*((one.entity, one.value) for one in identifiers), *(value for one in clear for value in one.found())]
        try:
            operators = self._operators.of_record([one.text for one in clear], values, unit)
        except Exception:  # noqa: BLE001 - as in _read
            return [(self._withhold(Withheld.ENGINE_ERROR), Withheld.ENGINE_ERROR) for _ in texts]
        return [(self._write(one, operators), one if isinstance(one, Withheld) else one.spans) for one in located]

    def find_record(
        self, texts: Sequence[str], identifiers: Sequence[Identifier] = ()
    ) -> list[tuple[Span, ...] | Withheld]:
        """Return what must not be shown of each text of one record: places in the text, in order, without overlaps."""
        located = self._locate(texts, identifiers)
        self._withheld.update(found for found in located if isinstance(found, Withheld))
        return [found if isinstance(found, Withheld) else found.spans for found in located]

    def _locate(self, texts: Sequence[str], identifiers: Sequence[Identifier]) -> list[_Located | Withheld]:
        fields = [self._read(text) for text in texts]
        known = self._known(fields, identifiers)
        return [self._located(field, known) for field in fields]

    def _read(self, text: str) -> _Field | Withheld:
        """Find identifiers in one text by itself."""
        if len(text) > self._policy.limits.field_characters:
            return Withheld.TOO_LONG
        try:
            views = views_of(text)
        except Exception:  # noqa: BLE001 - whatever went wrong, the text may not be shown, nor stand in a traceback
            return Withheld.ENGINE_ERROR
        if isinstance(views, Withheld):
            return views
        found = self._remembered.get(text)
        if found is not None:
            return _Field(text, views, found)
        self._deadline.start(self._policy.limits.field_seconds)
        try:
            found = tuple(tuple(united(view.new(self._not_allowed(view.text)), view.text)) for view in views)
            self._deadline.left()
        except TimeoutError:
            return Withheld.TIME_LIMIT
        except NoModelError:
            return Withheld.NO_MODEL
        except Exception:  # noqa: BLE001 - whatever went wrong, the text may not be shown, nor stand in a traceback
            return Withheld.ENGINE_ERROR
        self._remembered.put(text, found)
        return _Field(text, views, found)

    def _not_allowed(self, plain: str) -> Iterator[Span]:
        """Leave out findings within words of the policy's `allow`; of one that is more than those, nothing stays."""
        found = self._analyze(plain)
        if not self._allowed:
            return found
        allowed = list(self._allowed.find(plain, self._deadline))
        return (s for s in found if not _within(s.start, s.end, allowed))

    def _analyze(self, plain: str) -> Iterator[Span]:
        for opaque in OPAQUE.finditer(plain):
            yield Span(opaque.start(), opaque.end(), "ID")
        plain = OPAQUE.sub(lambda opaque: " " * len(opaque.group()), plain)
        for start, end in _chunks(plain):
            for language in self._policy.languages:
                self._deadline.left()
                with self._tokenizer.memory_zone(language, end - start):
                    results = self._analyzer.analyze(
                        plain[start:end], language, entities=self._wanted, score_threshold=self._policy.threshold
                    )
                for result in results:
                    entity = PRESIDIO_ENTITIES.get(result.entity_type, result.entity_type)
                    yield Span(start + result.start, start + result.end, entity)

    def _known(self, fields: Sequence[_Field | Withheld], identifiers: Sequence[Identifier]) -> _Known | Withheld:
        """Return the identity table of a record; why there is none if it cannot be made.

        In two parts: what the dataset says, which holds in any case, and what was found, which may be a common word.
        """
        given = dict.fromkeys((one.entity, one.value) for one in identifiers if one.entity in self._policy.entities)
        found = dict.fromkeys(
            v for field in fields if isinstance(field, _Field) for v in field.values() if v not in given
        )
        if len(given) + len(found) > _MOST_VALUES:
            return Withheld.TOO_LONG
        try:
            return KnownValues(given, self._everyday), KnownValues(found, self._everyday, self._is_common)
        except Exception:  # noqa: BLE001 - as in _read
            return Withheld.ENGINE_ERROR

    def _located(self, field: _Field | Withheld, known: _Known | Withheld) -> _Located | Withheld:
        """Unite what was found in a text by itself with what the identity table finds there."""
        if isinstance(field, Withheld):
            return field
        if isinstance(known, Withheld):
            return known
        self._deadline.start(self._policy.limits.field_seconds)
        try:
            spans = united(
                chain(
                    field.views[0].told,
                    (
                        Span(*view.original(span.start, span.end), span.entity)
                        for view, found in zip(field.views, field.found, strict=True)
                        for span in chain(found, view.new(self._searched(view.text, known)))
                    ),
                ),
                field.text,
            )
            for _ in range(_LOOKS):
                more = [span for view in field.views for span in self._beside(view, spans)] if spans else []
                if not more:
                    break
                spans = united(chain(spans, more), field.text)
        except TimeoutError:
            return Withheld.TIME_LIMIT
        except Exception:  # noqa: BLE001 - as in _read
            return Withheld.ENGINE_ERROR
        return _Located(field.text, tuple(spans), tuple(field.views[0].within(s.start, s.end) for s in spans))

    def _searched(self, text: str, known: _Known) -> Iterator[Span]:
        for part in known:
            yield from search(text, part, self._deadline)

    def _beside(self, view: View, spans: Sequence[Span]) -> Iterator[Span]:
        """Let the models look once more at a reading of which they know what identifies.

        They see what they would see if the cleared text were cleared again: with this, that changes nothing. It also
        finds the other half of names that were found in part.
        """
        known = view.places_of(spans)
        if not known:
            return
        allowed = list(self._allowed.find(view.text, self._deadline)) if self._allowed else []
        for start, end in _chunks(view.text):
            inside = [(max(a, start) - start, min(b, end) - start, e) for a, b, e in known if a < end and start < b]
            for model in self._models:
                language = model.supported_language
                with self._tokenizer.memory_zone(language, end - start):
                    results = model.beside(
                        view.text[start:end],
                        inside,
                        self._wanted,
                        partial(self._tokenizer.words, language=language),
                    )
                for found in results:
                    place = start + found.start, start + found.end
                    if found.score >= self._policy.threshold and view.counts(*place) and not _within(*place, allowed):
                        yield Span(*view.original(*place), found.entity_type)

    def _write(self, located: _Located | Withheld, operators: RecordOperators) -> Redacted:
        if isinstance(located, Withheld):
            return self._withhold(located)
        try:
            # One "entity" for the anonymizer is one thing to write, so that its replace operator writes that.
            labels = [
                operators.written(span.entity, value, located.text[span.end : span.end + 1])
                for span, value in zip(located.spans, located.values, strict=True)
            ]
            result = self._anonymizer.anonymize(
                located.text,
                [RecognizerResult(t, span.start, span.end, 1.0) for t, span in zip(labels, located.spans, strict=True)],
                {label: OperatorConfig("replace", {"new_value": label}) for label in labels},
                merge_entities_with_spaces=False,
            )
        except Exception:  # noqa: BLE001 - as in _read
            return self._withhold(Withheld.ENGINE_ERROR)
        return cleared(without_invisible(result.text))

    def _withhold(self, reason: Withheld) -> Redacted:
        self._withheld[reason] += 1
        return cleared(f"[WITHHELD: {reason}]")


def _within(start: int, end: int, places: Sequence[tuple[int, int]]) -> bool:
    """Tell whether `start` to `end` lies within one of `places`, but for punctuation that a model takes along."""
    return any(first <= start and end <= last + 1 for first, last in places)


def _chunks(text: str) -> Iterator[tuple[int, int]]:
    """Yield overlapping stretches of `text`, cut at white space where there is some near."""
    start = 0
    while True:
        end = _gap_before(text, start + _CHUNK) if start + _CHUNK < len(text) else len(text)
        yield start, end
        if end == len(text):
            return
        start = _gap_before(text, end - _OVERLAP)


def _gap_before(text: str, position: int) -> int:
    """Return the place after the last white space before `position`; `position` itself when none is near."""
    near = text[position - _OVERLAP // 2 : position]
    return position - next((back for back, character in enumerate(reversed(near)) if character.isspace()), 0)


def open_engine(
    policy_name: str,
    directory: Path | None = None,
    shelf: Shelf | None = None,
    language: str | None = None,
    key: bytes | None = None,
) -> Engine:
    """Open the engine under a policy (see `load_policy`) and prove it on a known text.

    Args:
        policy_name: see `load_policy`, as for `directory` and `language`.
        shelf: keeps findings for the next process.
        key: 32 random bytes that decide surrogates and how far dates are moved; None: this engine's own.

    Raises:
        RedactionError: the policy is missing or wrong, or the proof failed.
    """
    policy = load_policy(policy_name, directory, language)
    check_admitted(policy, directory)
    engine = engine_under(policy, key)
    if shelf is not None:
        engine.remember_on(shelf)  # after the proof, which is searched anew each time
    return engine


def engine_under(policy: RedactionPolicy, key: bytes | None = None) -> Engine:
    """Open the engine under a policy whose models may be used, and prove it; see `open_engine`.

    Raises:
        RedactionError: the proof failed, or a model cannot be opened.
    """
    for name in _LIBRARY_LOGGERS:
        logging.getLogger(name).disabled = True
    # A Presidio recogniser that gives up on a pattern goes on without it; by then the field's time is over as well.
    setattr(presidio_analyzer.pattern_recognizer, "REGEX_TIMEOUT_SECONDS", policy.limits.field_seconds)  # noqa: B010 - int there
    engine = Engine(policy, key)
    if not proven(engine, policy):
        raise RedactionError(
            f"the redaction engine does not clear its proof text under policy {policy.name}",
            "Names, record numbers, phone numbers and e-mail addresses must be asked for by every policy.",
        )
    return engine
