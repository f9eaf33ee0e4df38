"""Cells of XML and HTML: texts and attributes, with the elements around them as cues."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from agent.redaction.formats.cells import (
    Cell,
    DecodedText,
    Quoting,
    chain_quoting,
    trim,
)
from agent.redaction.formats.labels import (
    Owner,
    find_meaning,
    is_identifying_label,
    look_up,
    read_cue,
)

_MEANINGS = Path(__file__).parent / "meanings"
_BEGINNING = re.compile(r"\s*<(?:[?!][^<]{0,2000}>\s*<)?(?:!--|[A-Za-z_][\w:.-]*[\s/>])")
_NAME = r"[A-Za-z_][\w:.-]*"
_TOKEN = re.compile(
    rf"<!--(?P<comment>.*?)-->|<!\[CDATA\[(?P<data>.*?)\]\]>|<[?!](?P<declaration>[^>]*)>"
    rf"|</(?P<close>{_NAME})\s*>|<(?P<open>{_NAME})(?P<attributes>(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>|(?P<text>[^<]+)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(  # a value may lack quotes in HTML
    rf"(?P<name>{_NAME})\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"'=<>`]+))"
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_HARMLESS = re.compile(r"(?i)<\?xml[ -]|<!DOCTYPE html")
_NEAREST = 30  # elements around a text that may say what it is
_CDA = "urn:hl7-org:v3"
_FHIR = "http://hl7.org/fhir"


@dataclass(slots=True)
class _Element:
    """An element that is open.

    Attributes:
        owner: its attributes, and the names of the elements in it.
    """

    name: str
    owner: Owner = field(default_factory=dict)


@dataclass(slots=True)
class _Piece:
    """A text or attribute, the labels above it, and the attributes around it."""

    value: DecodedText
    path: tuple[str, ...]
    owners: tuple[Owner, ...]
    quoting: Quoting


@dataclass(slots=True)
class _Table:
    """A table of HTML that is being read.

    Attributes:
        heads: the labels in the first row.
        row: the texts of the current row's cells so far.
    """

    heads: list[str] = field(default_factory=list)
    is_first: bool = True
    row: list[str] = field(default_factory=list)
    label: str = ""
    in_head: bool = False


@cache
def _list_elements(group: str) -> frozenset[str]:
    """Return the elements of HTML of one group: LAYOUT or VOID."""
    lines = (_MEANINGS / "html.txt").read_text("utf-8").splitlines()
    words = [word for line in lines if line.startswith(group) for word in line.split()[1:]]
    return frozenset(words)


def is_markup(text: str) -> bool:
    """Return whether `text` is XML or HTML throughout: tags that are closed, from beginning to end."""
    if _BEGINNING.match(text) is None or not text.rstrip().endswith(">"):
        return False
    if "</" not in text and "/>" not in text:
        return False
    # An end after the last beginning bounds the search for the end of every comment.
    if text.rfind("<!--") > text.rfind("-->") or text.rfind("<![CDATA[") > text.rfind("]]>"):
        return False
    end = 0
    for token in _TOKEN.finditer(text):
        if token.start() != end:
            return False
        end = token.end()
    return end == len(text)


def read_markup(text: DecodedText, quoting: Quoting) -> Iterator[Cell]:
    """Yield the cells of an XML or HTML text."""
    reader = _Reader(text, quoting)
    for token in _TOKEN.finditer(text.text):
        reader.read(token)
    for piece in reader.pieces:
        meaning = find_meaning(piece.path, piece.owners, piece.value.text)
        yield Cell(piece.value, read_cue(piece.path), meaning, piece.quoting)


class _Reader:
    """Reads the tokens of a text and collects its pieces."""

    def __init__(self, text: DecodedText, quoting: Quoting) -> None:
        self.pieces: list[_Piece] = []
        self._text = text
        self._escaped = chain_quoting(html.escape, quoting)
        self._unquoted = chain_quoting(_join_words, quoting)
        self._verbatim = chain_quoting(_remove_brackets, quoting)
        self._open: list[_Element] = []
        self._tables: list[_Table] = []
        self._standard: Owner = {}

    def read(self, token: re.Match[str]) -> None:
        """Read one token."""
        kind = token.lastgroup
        if token.group("open"):
            self._open_element(token)
        elif kind == "close":
            self._close_element(token.group("close").lower())
        elif kind == "text":
            self._add_text(self._cut(token, "text").decode(_ENTITY, html.unescape), self._escaped)
        elif kind == "data":
            self._add_text(self._cut(token, "data"), self._verbatim)
        elif kind == "comment" or (kind == "declaration" and not _HARMLESS.match(token.group())):
            self._add(self._cut(token, kind), (), self._verbatim)

    def _cut(self, match: re.Match[str], group: str) -> DecodedText:
        return self._text.cut(*match.span(group))

    def _open_element(self, token: re.Match[str]) -> None:
        name = token.group("open")
        element = _Element(name.rpartition(":")[2])
        if self._open:
            self._open[-1].owner.setdefault(element.name, "")
        self._start_in_table(name.lower())
        self._open.append(element)
        start = token.start("attributes")
        for attribute in _ATTRIBUTE.finditer(token.group("attributes")):
            group = str(attribute.lastgroup)
            first, last = attribute.span(group)
            value = self._text.cut(start + first, start + last).decode(_ENTITY, html.unescape)
            element.owner[attribute.group("name")] = value.text
            if attribute.group("name") == "xmlns" and value.text in (_CDA, _FHIR):
                self._standard["resourceType"] = element.name
            label = attribute.group("name").removeprefix("xsi:")
            if not attribute.group("name").startswith("xmlns"):
                quoting = self._unquoted if group == "bare" else self._escaped
                self._add(value, (*self._labels(), label), quoting)
        is_closed = token.group("attributes").rstrip().endswith("/")
        if is_closed or name.lower() in _list_elements("VOID"):
            self._open.pop()

    def _close_element(self, name: str) -> None:
        local = name.rpartition(":")[2]
        for index in range(len(self._open) - 1, max(-1, len(self._open) - _NEAREST), -1):
            if self._open[index].name.lower() == local:
                del self._open[index:]
                break
        if self._tables:
            self._end_in_table(name)

    def _start_in_table(self, name: str) -> None:
        if name == "table":
            self._tables.append(_Table())
        elif self._tables and name == "tr":
            self._tables[-1].row = []
            self._tables[-1].label = ""
        elif self._tables and name in ("td", "th"):
            self._tables[-1].row.append("")

    def _end_in_table(self, name: str) -> None:
        table = self._tables[-1]
        if name == "table":
            self._tables.pop()
        elif name == "tr":
            if table.is_first and len(table.row) > 1:
                table.heads = table.row
                table.is_first = False
        elif name == "th" or (name == "td" and len(table.row) == 1):
            table.label = table.row[-1] if table.row else ""

    def _labels(self) -> tuple[str, ...]:
        """Return the labels at the current position: elements that name something, and the head of the column."""
        labels = [
            element.name
            for element in self._open[-_NEAREST:]
            if element.name.lower() not in _list_elements("LAYOUT")
        ]
        if self._tables:
            head = self._find_head(self._tables[-1])
            labels += [head] if head else []
        return tuple(labels)

    def _find_head(self, table: _Table) -> str:
        column = len(table.row) - 1
        if not table.is_first and 0 <= column < len(table.heads) and len(table.heads) > 2:
            head = table.heads[column]
            if look_up(head) is not None:
                return head
        return table.label if column > 0 else ""

    def _add_text(self, text: DecodedText, quoting: Quoting) -> None:
        content = trim(text)
        if not content.text:
            return
        labels = self._labels()
        is_label = False
        if self._tables and self._tables[-1].row:
            row = self._tables[-1].row
            is_label = look_up(content.text) is not None and (
                self._is_in("th") or (len(row) == 1 and not self._is_under_head())
            )
            row[-1] = (row[-1] + " " + content.text).strip()[:80]
        if not is_label:
            self._add(content, labels, quoting)

    def _is_in(self, name: str) -> bool:
        return any(element.name.lower() == name for element in self._open[-_NEAREST:])

    def _is_under_head(self) -> bool:
        table = self._tables[-1]
        return not table.is_first and any(map(is_identifying_label, table.heads[:1]))

    def _add(self, value: DecodedText, path: tuple[str, ...], quoting: Quoting) -> None:
        content = trim(value)
        if content.text:
            owners = [element.owner for element in self._open[-_NEAREST:]]
            if self._standard:
                owners.insert(0, self._standard)
            self.pieces.append(_Piece(content, path, tuple(owners), quoting))


def _join_words(replacement: str) -> str:
    """Write a replacement for an attribute without quotes."""
    return re.sub(r"[\s\"'=<>`]+", "_", replacement)


def _remove_brackets(replacement: str) -> str:
    return re.sub(r"[<>]|--", "-", replacement)
