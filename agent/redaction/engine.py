"""The redaction engine: Presidio's analyzer and anonymizer around our own rules, models and identity table.

A record's texts are redacted in three steps:

1. Analyse each text by itself: build its views (`views`), and detect identifiers in each view by the policy's rules and
   models (`rules`, `models`), merged into spans without overlaps (`spans`).
2. Resolve each text with the rest of its record: search the identity table of all texts (`identity`) in it, and let the
   models read it again beside the values known by then.
3. Write each text anew, with a replacement for each span (`replacements`).

A text that cannot be analysed, resolved or written is withheld whole. Models are read from disk when the engine is
opened; nothing is fetched over a network.

Imported within functions, or by modules that are, because Presidio and spaCy take about a second to import.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import presidio_analyzer.pattern_recognizer
from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

from agent.errors import RedactionError
from agent.redaction.deadline import Deadline
from agent.redaction.detection_cache import DetectionCache, Detections, DetectionStore
from agent.redaction.identity.table import KnownValues, search_known_values
from agent.redaction.models.admission import check_admitted
from agent.redaction.models.model import ModelRecognizer, NoModelError
from agent.redaction.models.tokenizer import TokenizerEngine
from agent.redaction.policy.policy import RedactionPolicy, load_policy
from agent.redaction.policy.site_patterns import Phrases
from agent.redaction.presidio import PRESIDIO_ENTITIES, ContextOfDoubt
from agent.redaction.recognizers import (
    build_recognizers,
    everyday,
    family_names,
    given_names,
    is_common,
)
from agent.redaction.redacted import Redacted, Withheld, mark_redacted
from agent.redaction.replacements.operators import Operators, RecordOperators
from agent.redaction.rules_digest import rules_digest
from agent.redaction.self_test import passes_self_test
from agent.redaction.spans.merge import merge_spans
from agent.redaction.spans.span import Span
from agent.redaction.views.folding import remove_invisible
from agent.redaction.views.views import OPAQUE, View, build_views
from agent.vocabulary import Identifier

_LIBRARY_LOGGERS = (
    "presidio-analyzer",
    "presidio-anonymizer",
    "decision_process",
    "spacy",
    "tldextract",
    "filelock",
)
_CHUNK = 20_000  # characters analysed together; Presidio's own steps grow with the square of the detections
_MAX_MODEL_ROUNDS = 3  # in which models read a text again; nearly every text needs one
_MAX_VALUES = 10_000  # different identifiers of one record; to tell apart the people of more would take minutes
_OVERLAP = 500  # characters; longer than any identifier but the longest address line

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class _AnalysedText:
    """A text, its views, and the detections in each view."""

    text: str
    views: tuple[View, ...]
    detections: Detections

    def list_values(self) -> Iterator[tuple[str, str]]:
        """Yield the detected (entity, value) pairs."""
        for view, spans in zip(self.views, self.detections, strict=True):
            for span in spans:
                yield span.entity, view.text[span.start : span.end]


@dataclass(frozen=True, slots=True)
class _ResolvedText:
    """A text, the spans of it that must not be shown, and the value of each span in the plain view."""

    text: str
    spans: tuple[Span, ...]
    values: tuple[str, ...]

    def list_labelled_values(self) -> Iterator[tuple[str, str]]:
        """Yield the (entity, value) pairs."""
        for span, value in zip(self.spans, self.values, strict=True):
            yield span.entity, value


@dataclass(frozen=True, slots=True)
class _IdentityTable:
    """The values known of a record.

    Attributes:
        stated: by the dataset. They count wherever they stand.
        detected: in the record's texts. One that is also a common word may have been a mistake.
    """

    stated: KnownValues
    detected: KnownValues

    def search(self, text: str, deadline: Deadline) -> Iterator[Span]:
        """Yield where known values stand in `text`."""
        yield from search_known_values(text, self.stated, deadline)
        yield from search_known_values(text, self.detected, deadline)


class Engine:
    """A `Redactor`. Not for several threads at once."""

    def __init__(self, policy: RedactionPolicy, key: bytes | None = None) -> None:
        self._policy = policy
        self._deadline = Deadline()
        self._tokenizer = TokenizerEngine(policy.languages)
        recognizers = build_recognizers(policy, self._deadline)
        detectable = [
            entity for recognizer in recognizers for entity in recognizer.supported_entities
        ]
        missing = set(policy.entities) - set(map(_map_entity, detectable))
        if missing:
            raise RedactionError(
                f"redaction policy {policy.name}: no recogniser of its languages ({', '.join(policy.languages)}) finds "
                f"{', '.join(sorted(missing))}",
                "Take these out of `entities`, add a language that finds them, or add recognisers of your own.",
            )
        self._entities = [entity for entity in detectable if _map_entity(entity) in policy.entities]
        self._analyzer = AnalyzerEngine(
            registry=RecognizerRegistry(
                recognizers=recognizers, supported_languages=list(policy.languages)
            ),
            nlp_engine=self._tokenizer,
            supported_languages=list(policy.languages),
            context_aware_enhancer=ContextOfDoubt(policy.threshold),
        )
        self._models = [
            recognizer for recognizer in recognizers if isinstance(recognizer, ModelRecognizer)
        ]
        self._anonymizer = AnonymizerEngine()  # type: ignore[no-untyped-call]
        self._withheld: Counter[Withheld] = Counter()
        self._cache = DetectionCache()
        self._everyday = everyday(policy)
        self._is_common = is_common(policy)
        self._allowed = Phrases(policy.allow)
        self._operators = Operators(
            policy,
            key=key or secrets.token_bytes(32),
            this_year=datetime.now(UTC).year,
            given_names=given_names(policy),
            family_names=family_names(policy),
        )

    def use_store(self, store: DetectionStore) -> None:
        """Take the detections of texts that were analysed by the same rules before from `store`, and write new ones."""
        self._cache = DetectionCache(store=store, rules=rules_digest(self._policy))

    def limit_cache(self, detections: int) -> None:
        """Cache at most `detections`: the texts of a stream seldom repeat."""
        self._cache = DetectionCache(detections)

    @property
    def policy(self) -> str:
        """Name and version of the policy."""
        return f"{self._policy.name} {self._policy.version}"

    @property
    def withheld(self) -> Mapping[Withheld, int]:
        """Fields withheld so far, by reason."""
        return MappingProxyType(self._withheld)

    def redact(self, text: str) -> Redacted:
        """Redact one text that stands alone."""
        return self.redact_record([text])[0]

    def redact_record(
        self, texts: Sequence[str], identifiers: Sequence[Identifier] = (), unit: str | None = None
    ) -> list[Redacted]:
        """Redact the texts of one record together; see `agent.redaction.Redactor`."""
        return [text for text, _ in self.redact_and_find(texts, identifiers, unit)]

    def redact_and_find(
        self, texts: Sequence[str], identifiers: Sequence[Identifier] = (), unit: str | None = None
    ) -> list[tuple[Redacted, tuple[Span, ...] | Withheld]]:
        """Redact the texts of one record together, and return with each the result of `find_record`."""
        fields = self._resolve_record(texts, identifiers)
        operators = _withhold_on_error(partial(self._open_operators, fields, identifiers, unit))
        if isinstance(operators, Withheld):
            return [(self._withhold(operators), operators) for _ in texts]
        redacted: list[tuple[Redacted, tuple[Span, ...] | Withheld]] = []
        for field in fields:
            if isinstance(field, Withheld):
                redacted.append((self._withhold(field), field))
            else:
                redacted.append((self._write(field, operators), field.spans))
        return redacted

    def find_record(
        self, texts: Sequence[str], identifiers: Sequence[Identifier] = ()
    ) -> list[tuple[Span, ...] | Withheld]:
        """Return the spans of each text of one record that must not be shown, in order, without overlaps."""
        fields = self._resolve_record(texts, identifiers)
        self._withheld.update(field for field in fields if isinstance(field, Withheld))
        return [field if isinstance(field, Withheld) else field.spans for field in fields]

    def _resolve_record(
        self, texts: Sequence[str], identifiers: Sequence[Identifier]
    ) -> list[_ResolvedText | Withheld]:
        fields = [self._prepare_field(text) for text in texts]
        table = self._build_table(fields, identifiers)
        return [self._resolve_field(field, table) for field in fields]

    # Step 1: each text by itself.

    def _prepare_field(self, text: str) -> _AnalysedText | Withheld:
        if len(text) > self._policy.limits.field_characters:
            return Withheld.TOO_LONG
        views = _withhold_on_error(partial(build_views, text))
        if isinstance(views, Withheld):
            return views
        cached = self._cache.get(text)
        if cached is not None:
            return _AnalysedText(text, views, cached)
        detections = _withhold_on_error(partial(self._detect, views))
        if isinstance(detections, Withheld):
            return detections
        self._cache.put(text, detections)
        return _AnalysedText(text, views, detections)

    def _detect(self, views: Sequence[View]) -> Detections:
        self._deadline.start(self._policy.limits.field_seconds)
        detections = []
        for view in views:
            spans = view.keep_new(self._drop_allowed(view.text, self._detect_in_view(view.text)))
            detections.append(tuple(merge_spans(spans, view.text)))
        self._deadline.left()  # the last step may have passed it unchecked
        return tuple(detections)

    def _drop_allowed(self, text: str, spans: Iterator[Span]) -> Iterator[Span]:
        """Drop the spans within words of the policy's `allow`; a longer span is a detection as a whole."""
        if not self._allowed:
            return spans
        allowed = list(self._allowed.find(text, self._deadline))
        return (span for span in spans if not _is_within(span.start, span.end, allowed))

    def _detect_in_view(self, text: str) -> Iterator[Span]:
        """Yield the detections of the rules and models in the text of one view."""
        for opaque in OPAQUE.finditer(text):
            yield Span(opaque.start(), opaque.end(), "ID")
        text = OPAQUE.sub(lambda opaque: " " * len(opaque.group()), text)
        for start, end in _split_chunks(text):
            for language in self._policy.languages:
                self._deadline.left()
                with self._tokenizer.memory_zone(language, end - start):
                    results = self._analyzer.analyze(
                        text[start:end],
                        language,
                        entities=self._entities,
                        score_threshold=self._policy.threshold,
                    )
                for result in results:
                    yield Span(
                        start + result.start, start + result.end, _map_entity(result.entity_type)
                    )

    # Step 2: each text with the rest of its record.

    def _build_table(
        self, fields: Sequence[_AnalysedText | Withheld], identifiers: Sequence[Identifier]
    ) -> _IdentityTable | Withheld:
        """Build the identity table of a record; return the reason to withhold the record if that fails."""
        # Dictionaries as ordered sets: names are numbered in the order in which they are found.
        stated: dict[tuple[str, str], None] = {}
        for identifier in identifiers:
            if identifier.entity in self._policy.entities:
                stated[identifier.entity, identifier.value] = None
        detected: dict[tuple[str, str], None] = {}
        for field in fields:
            if isinstance(field, _AnalysedText):
                detected.update(
                    (value, None) for value in field.list_values() if value not in stated
                )
        if len(stated) + len(detected) > _MAX_VALUES:
            return Withheld.TOO_LONG

        def build() -> _IdentityTable:
            return _IdentityTable(
                stated=KnownValues(stated, self._everyday),
                detected=KnownValues(detected, self._everyday, self._is_common),
            )

        return _withhold_on_error(build)

    def _resolve_field(
        self, field: _AnalysedText | Withheld, table: _IdentityTable | Withheld
    ) -> _ResolvedText | Withheld:
        if isinstance(field, Withheld):
            return field
        if isinstance(table, Withheld):
            return table
        return _withhold_on_error(partial(self._resolve, field, table))

    def _resolve(self, field: _AnalysedText, table: _IdentityTable) -> _ResolvedText:
        """Merge the detections in a text with the values of the identity table that stand there."""
        self._deadline.start(self._policy.limits.field_seconds)
        plain_view = field.views[0]
        spans = list(plain_view.marked)
        for view, detections in zip(field.views, field.detections, strict=True):
            known_spans = view.keep_new(table.search(view.text, self._deadline))
            spans += [view.to_original(span) for span in chain(detections, known_spans)]
        merged = merge_spans(spans, field.text)
        for _ in range(_MAX_MODEL_ROUNDS):
            further: list[Span] = []
            for view in field.views:
                further += self._detect_beside(view, merged)
            if not further:
                break
            merged = merge_spans([*merged, *further], field.text)
        values = tuple(plain_view.read_original(span.start, span.end) for span in merged)
        return _ResolvedText(field.text, tuple(merged), values)

    def _detect_beside(self, view: View, spans: Sequence[Span]) -> Iterator[Span]:
        """Yield the detections of the models when they read a view with ordinary values in the place of `spans`.

        They read it as they would read the redacted text, so that redacting that once more would change nothing. This
        also detects the other half of a name that was detected in part.
        """
        known_spans = view.locate_spans(spans)
        if not known_spans:
            return
        allowed = list(self._allowed.find(view.text, self._deadline)) if self._allowed else []
        for start, end in _split_chunks(view.text):
            known_in_chunk = _cut_to_chunk(known_spans, start, end)
            for model in self._models:
                language = model.supported_language
                with self._tokenizer.memory_zone(language, end - start):
                    results = model.analyze_beside(
                        text=view.text[start:end],
                        known=known_in_chunk,
                        entities=self._entities,
                        words_of=partial(self._tokenizer.words, language=language),
                    )
                for result in results:
                    span = Span(start + result.start, start + result.end, result.entity_type)
                    if result.score < self._policy.threshold or _is_within(
                        span.start, span.end, allowed
                    ):
                        continue
                    if view.is_new(span):
                        yield view.to_original(span)

    # Step 3: the text with replacements.

    def _open_operators(
        self,
        fields: Sequence[_ResolvedText | Withheld],
        identifiers: Sequence[Identifier],
        unit: str | None,
    ) -> RecordOperators:
        """Open the policy's operators for one record."""
        resolved = [field for field in fields if isinstance(field, _ResolvedText)]
        values = [(identifier.entity, identifier.value) for identifier in identifiers]
        for field in resolved:
            values += field.list_labelled_values()
        return self._operators.for_record([field.text for field in resolved], values, unit)

    def _write(self, field: _ResolvedText, operators: RecordOperators) -> Redacted:
        written = _withhold_on_error(partial(self._replace_spans, field, operators))
        return self._withhold(written) if isinstance(written, Withheld) else mark_redacted(written)

    def _replace_spans(self, field: _ResolvedText, operators: RecordOperators) -> str:
        # The anonymizer chooses an operator by entity. Each replacement is an entity of its own here, so that its
        # replace operator writes exactly that.
        results, replace = [], {}
        for span, value in zip(field.spans, field.values, strict=True):
            replacement = operators.get_replacement(
                span.entity, value, field.text[span.end : span.end + 1]
            )
            results.append(RecognizerResult(replacement, span.start, span.end, 1.0))
            replace[replacement] = OperatorConfig("replace", {"new_value": replacement})
        result = self._anonymizer.anonymize(
            field.text, results, replace, merge_entities_with_spaces=False
        )
        return remove_invisible(result.text)

    def _withhold(self, reason: Withheld) -> Redacted:
        self._withheld[reason] += 1
        return mark_redacted(f"[WITHHELD: {reason}]")


def _withhold_on_error(step: Callable[[], _Result]) -> _Result | Withheld:
    """Return the result of a step; the reason to withhold its text if it fails.

    No exception passes: it may hold a part of the text, which must not stand in a traceback.
    """
    try:
        return step()
    except TimeoutError:
        return Withheld.TIME_LIMIT
    except NoModelError:
        return Withheld.NO_MODEL
    except Exception:  # noqa: BLE001 - see above
        return Withheld.ENGINE_ERROR


def _map_entity(presidio_entity: str) -> str:
    return PRESIDIO_ENTITIES.get(presidio_entity, presidio_entity)


def _is_within(start: int, end: int, stretches: Sequence[tuple[int, int]]) -> bool:
    """Tell whether `start` to `end` lies within a stretch, with a punctuation mark that a model added at most."""
    return any(first <= start and end <= last + 1 for first, last in stretches)


def _cut_to_chunk(spans: Iterable[Span], start: int, end: int) -> list[Span]:
    """Return the parts of spans within a chunk, by their offsets in it."""
    parts: list[Span] = []
    for span in spans:
        if span.start < end and start < span.end:
            parts.append(
                Span(max(span.start, start) - start, min(span.end, end) - start, span.entity)
            )
    return parts


def _split_chunks(text: str) -> Iterator[tuple[int, int]]:
    """Yield overlapping stretches of `text`, cut at white space where there is some near."""
    start = 0
    while True:
        end = _find_gap(text, start + _CHUNK) if start + _CHUNK < len(text) else len(text)
        yield start, end
        if end == len(text):
            return
        start = _find_gap(text, end - _OVERLAP)


def _find_gap(text: str, position: int) -> int:
    """Return the position after the last white space before `position`; `position` itself when none is near."""
    for candidate in range(position, position - _OVERLAP // 2, -1):
        if text[candidate - 1].isspace():
            return candidate
    return position


def open_engine(
    policy_name: str,
    directory: Path | None = None,
    store: DetectionStore | None = None,
    language: str | None = None,
    key: bytes | None = None,
) -> Engine:
    """Open the engine under a policy (see `load_policy`) and test it on a known text.

    Args:
        policy_name: see `load_policy`, as for `directory` and `language`.
        store: keeps detections for the next process.
        key: 32 random bytes that decide surrogates and how far dates are moved; None: this engine's own.

    Raises:
        RedactionError: the policy is missing or wrong, or the self-test failed.
    """
    policy = load_policy(policy_name, directory, language)
    check_admitted(policy, directory)
    engine = build_engine(policy, key)
    if store is not None:
        engine.use_store(store)  # after the self-test, whose texts are analysed anew each time
    return engine


def build_engine(policy: RedactionPolicy, key: bytes | None = None) -> Engine:
    """Open the engine under a policy whose models may be used, and test it; see `open_engine`.

    Raises:
        RedactionError: the self-test failed, or a model cannot be opened.
    """
    for name in _LIBRARY_LOGGERS:
        logging.getLogger(name).disabled = True
    # A Presidio recogniser that gives up on a pattern goes on without it; by then the field's time is over as well.
    recognizer_module: Any = presidio_analyzer.pattern_recognizer  # its limit is typed int there
    recognizer_module.REGEX_TIMEOUT_SECONDS = policy.limits.field_seconds
    engine = Engine(policy, key)
    if not passes_self_test(engine, policy):
        raise RedactionError(
            f"the redaction engine fails its self-test under policy {policy.name}",
            "Names, record numbers, phone numbers and e-mail addresses must be asked for by every policy.",
        )
    return engine
