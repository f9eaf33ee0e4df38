"""Walk through HELM's files: build new trees of the known fields, and redact the texts of an instance together.

A step does not change a value that is already redacted, so a second walk shows whether a folder is clean.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import regex

from agent.errors import RedactionError
from agent.exchange.helm.redaction.kinds import Kind
from agent.exchange.helm.redaction.names import Names, split_words
from agent.redaction import Withheld
from agent.redaction.replacements.tags import TAG
from agent.redaction.spans.span import Span
from agent.vocabulary import Identifier

REDACTED: Final = "[redacted]"  # HELM's own replacement for a text that is not shown
_PASSES = 5  # maximum passes; real folders need two, so needing more than five is a bug
_DEEPEST = 60  # levels of maps and lists
_MIN_IDENTIFIER_LENGTH = 5  # characters; shorter instance ids are not searched for in texts
_HELM_ID = re.compile(r"id\d+")
_MIN_STATED_LENGTH, _MAX_STATED_LENGTH = (
    3,
    100,
)  # minimum and maximum characters of an identifier that a field states
# Fields of data sets that state an identifier, by field name. The first matching pattern decides.
_STATING = tuple(
    (re.compile(pattern, re.IGNORECASE), entity)
    for pattern, entity in (
        (
            r"(patient|person|first|last|given|family|full|sur|middle|maiden|doctor|physician|provider)_?name",
            "NAME",
        ),
        (r"^(patient|doctor|physician)$", "NAME"),
        (r"mrn|medical_?record|^nhc$", "MRN"),
        (r"ssn|social_?security", "SSN"),
        (r"dob|birth|(^|_)date($|_)", "DATE"),
        (r"phone|fax|mobile", "PHONE"),
        (r"e_?mail", "EMAIL"),
        (r"address|street", "ADDRESS"),
        (r"(patient|subject|person|encounter|visit|note|hadm|stay|account|member)_?id", "ID"),
    )
)


class _Omitted:
    """Returned by a step for a value that is left out of the new tree."""


OMIT: Final = _Omitted()
Step = Callable[["Walk", Any], Any]


@dataclass(frozen=True, slots=True)
class Options:
    """Which texts to blank instead of showing them redacted.

    Attributes:
        blank_outputs: the answers and reasoning of models.
        blank_annotations: all texts of annotations.
    """

    blank_outputs: bool = False
    blank_annotations: bool = False


class Texts(Protocol):
    """The methods of the redaction engine that are used here."""

    @property
    def policy(self) -> str:
        """The name and version of the policy in force."""
        ...

    def redact_and_find(
        self, texts: Sequence[str], identifiers: Sequence[Identifier] = ()
    ) -> Sequence[tuple[str, tuple[Span, ...] | Withheld]]:
        """Redact the texts of one record together; return each with its detections in the original."""
        ...


@dataclass(frozen=True, slots=True)
class FolderRedactors:
    """The engine that redacts texts, and the function that decides whether a name may be shown."""

    texts: Texts
    names: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class _RedactedRecord:
    """A redacted record: its texts by number, and the words of the people's names in it."""

    texts: Sequence[str]
    people: frozenset[str]


@dataclass(slots=True)
class InstanceTexts:
    """The texts of one instance.

    Attributes:
        texts: the texts that are shown, each once, with its number.
        context: the texts that are not shown; identifiers in them are searched for in the shown texts too.
        identifiers: the instance's id, if it may be an identifier, and those stated by fields of the data set.
        has_names: whether a name in the files has to be compared with those of people in the texts.
    """

    texts: dict[str, int] = field(default_factory=dict)
    context: dict[str, None] = field(default_factory=dict)
    identifiers: list[Identifier] = field(default_factory=list)
    has_names: bool = False

    def add_identifier(self, identifier: Identifier) -> None:
        """Add an identifier of the record's people that the data itself states."""
        if identifier not in self.identifiers:
            self.identifiers.append(identifier)

    def redact(self, engine: Texts) -> _RedactedRecord:
        """Redact the texts together, and collect the words of people's names."""
        if not self.texts and not self.has_names:
            return _RedactedRecord([], frozenset())
        originals = [*self.texts, *self._list_unseen_context()]
        cleared = engine.redact_and_find(originals, self.identifiers)
        people: set[str] = set()
        if self.has_names:
            for text, (_, spans) in zip(originals, cleared, strict=True):
                people |= _words_of_people(text, spans)
        shown = [new for new, _ in cleared[: len(self.texts)]]
        return _RedactedRecord(_renumber_tags(shown), frozenset(people))

    def _list_unseen_context(self) -> list[str]:
        """Return the context, without texts that are contained in another text."""
        shown = "\0".join(self.texts)
        context: list[str] = []
        for text in sorted(self.context, key=len, reverse=True):
            if text in shown or any(text in longer for longer in context):
                continue
            context.append(text)
        return context


def _words_of_people(text: str, spans: Sequence[Span] | Withheld) -> set[str]:
    """Return the words of the people's names that redaction detected in a text."""
    words: set[str] = set()
    if isinstance(spans, Withheld):
        return words
    for span in spans:
        if span.entity == "NAME":
            words |= split_words(text[span.start : span.end])
    return words


@dataclass(frozen=True, slots=True)
class _Slot:
    """A placeholder for a text in a tree until its record is redacted."""

    record: str
    number: int


@dataclass(frozen=True, slots=True)
class _NameSlot:
    """A placeholder for a name that is shown unless it contains a name of a person in its record."""

    record: str
    name: str


@dataclass(slots=True)
class Walk:
    """One walk through the files of a run.

    Attributes:
        counts: numbers of values that were left out or blanked, for the manifest.
        blanked: records whose texts are not shown, because repeated redaction keeps changing them.
    """

    names: Names
    options: Options
    blanked: frozenset[str] = frozenset()
    counts: Counter[Kind] = field(default_factory=Counter)
    records: dict[str, InstanceTexts] = field(default_factory=dict)
    _current: str = ""

    @contextmanager
    def instance(self, raw_id: object) -> Iterator[None]:
        """Assign all texts that are processed within this context to the instance with this id."""
        enclosing = self._current
        self._current = self.names.hash_id(raw_id) if isinstance(raw_id, str) else ""
        if isinstance(raw_id, str) and raw_id != self._current and _is_identifier(raw_id):
            self._get_record().add_identifier(Identifier("ID", raw_id))
        try:
            yield
        finally:
            self._current = enclosing

    def _get_record(self) -> InstanceTexts:
        return self.records.setdefault(self._current, InstanceTexts())

    def show_text(self, text: str) -> object:
        """Return a placeholder for a text that is shown redacted."""
        if not any(map(str.isalnum, text)) or text == REDACTED:
            has_controls = any(not char.isprintable() and char not in "\t\n\r" for char in text)
            return "" if has_controls else text
        if self._current in self.blanked:
            return REDACTED
        record = self._get_record()
        number = record.texts.setdefault(text, len(record.texts))
        return _Slot(self._current, number)

    def show_name(self, name: str) -> object:
        """Return a placeholder for a name, such as a key or part of a split, that may come from an instance's data."""
        shown = self.names.show(name)
        if shown != name or self.names.is_known(name):
            return shown
        self._get_record().has_names = True
        return _NameSlot(self._current, name)

    def hide(self, value: object, kind: Kind) -> None:
        """Count a value that is not shown, and keep its texts to search for their identifiers in the shown ones."""
        self.counts[kind] += 1
        self._keep_context(value, depth=0)

    def _keep_context(self, value: object, depth: int) -> None:
        if depth > _DEEPEST:
            return
        if isinstance(value, str):
            if value != REDACTED and any(map(str.isalnum, value)):
                self._get_record().context[value] = None
        elif isinstance(value, dict):
            for key, inner in value.items():
                identifier = _read_stated_identifier(key, inner)
                if identifier is not None:
                    self._get_record().add_identifier(identifier)
                self._keep_context(inner, depth + 1)
        elif isinstance(value, list):
            for inner in value:
                self._keep_context(inner, depth + 1)

    def redact_records(self, engine: Texts) -> dict[str, _RedactedRecord]:
        """Redact all records."""
        return {key: record.redact(engine) for key, record in self.records.items()}


def _renumber_tags(texts: Sequence[str]) -> list[str]:
    """Number the tags of a record in the order in which they occur in the shown texts.

    Otherwise the numbers would reveal how many identifiers the hidden texts contain, and made-up tags such as
    [NAME-617][NAME-482] could carry numbers.
    """
    numbers: dict[tuple[str, str], int] = {}
    highest = Counter[str]()

    def renumber(tag: regex.Match[str]) -> str:
        entity, number = tag.group("entity"), tag.group("number")
        if not entity:  # [WITHHELD: ...]
            withheld: str = tag.group()
            return withheld
        if (entity, number) not in numbers:
            highest[entity] += 1
            numbers[entity, number] = highest[entity]
        return f"[{entity}-{numbers[entity, number]}]"

    return [TAG.sub(renumber, text) for text in texts]


def _is_identifier(raw_id: str) -> bool:
    """Return whether an instance's id may be a record number. HELM's own ids are `id0`, `id1` and so on."""
    if len(raw_id) < _MIN_IDENTIFIER_LENGTH or _HELM_ID.fullmatch(raw_id):
        return False
    return any(map(str.isdigit, raw_id))


def _read_stated_identifier(key: str, value: object) -> Identifier | None:
    """Return the identifier that a field of a data set states about the record's people: {"patient_name": ...}."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).strip()
    if not _MIN_STATED_LENGTH <= len(text) <= _MAX_STATED_LENGTH:
        return None
    for pattern, entity in _STATING:
        if pattern.search(key):
            return Identifier(entity, text)
    return None


@dataclass(frozen=True, slots=True)
class WalkedFiles:
    """The files of a run after one walk.

    Attributes:
        contents: the new contents by file name.
        changed: the records in which redaction changed a text.
        counts: numbers of values that were left out or blanked.
    """

    contents: dict[str, Any]
    changed: frozenset[str]
    counts: Counter[Kind]


def walk_files(
    files: Mapping[str, tuple[Step, Any]],
    names: Names,
    options: Options,
    engine: Texts,
    blanked: frozenset[str] = frozenset(),
) -> WalkedFiles:
    """Apply the steps to the files of a run once; `files` maps each file's name to its step and content."""
    walk = Walk(names, options, blanked)
    trees = {name: step(walk, content) for name, (step, content) in files.items()}
    redacted = walk.redact_records(engine)
    filler = _SlotFiller(redacted, names)
    return WalkedFiles(
        contents={name: filler.fill(tree) for name, tree in trees.items() if tree is not OMIT},
        changed=_find_changed(walk.records, redacted),
        counts=walk.counts,
    )


def _find_changed(
    records: Mapping[str, InstanceTexts], redacted: Mapping[str, _RedactedRecord]
) -> frozenset[str]:
    return frozenset(
        key for key, record in redacted.items() if list(record.texts) != list(records[key].texts)
    )


def redact_files(
    files: Mapping[str, tuple[Step, Any]], names: Names, options: Options, engine: Texts
) -> tuple[dict[str, Any], Counter[Kind]]:
    """Apply the steps to the files of a run, as `walk_files` does, until nothing changes any more.

    Texts of an instance that redaction keeps changing are blanked.

    Raises:
        RedactionError: the files still change after the last pass.
    """
    first = walk_files(files, names, options, engine)
    contents = first.contents
    blanked: frozenset[str] = frozenset()
    for number in range(_PASSES):
        again = {name: (files[name][0], content) for name, content in contents.items()}
        walked = walk_files(again, names, options, engine, blanked)
        if walked.contents == contents:
            first.counts["unsettled instances"] += len(blanked)
            return contents, first.counts
        contents = walked.contents
        # One change is normal: an identifier found in one text is searched for in the others.
        if number > 0:
            blanked |= walked.changed
    raise RedactionError(
        "redaction keeps changing the texts of a run",
        "Nothing was written. Please report this as a bug.",
    )


@dataclass(frozen=True, slots=True)
class _SlotFiller:
    """Replaces the placeholders in a tree by redacted texts."""

    records: Mapping[str, _RedactedRecord]
    names: Names

    def fill(self, tree: Any) -> Any:
        """Return the tree with its texts filled in."""
        if isinstance(tree, _Slot):
            return self.records[tree.record].texts[tree.number]
        if isinstance(tree, _NameSlot):
            return self._fill_name(tree)
        if isinstance(tree, dict):
            return {self.fill(key): self.fill(value) for key, value in tree.items()}
        if isinstance(tree, list):
            return [self.fill(value) for value in tree]
        return tree

    def _fill_name(self, slot: _NameSlot) -> str:
        people = self.records[slot.record].people
        if people.isdisjoint(split_words(slot.name)):
            return slot.name
        return self.names.label_always(slot.name)
