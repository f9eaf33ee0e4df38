"""XML read safely: no document type, so no entities of its own and nothing fetched; no depth or size without end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO
from xml.parsers import expat

_DEPTH = 100
_LARGEST = 128 * 2**20  # bytes: far more than the longest record
_CHUNK = 2**20  # bytes


@dataclass(slots=True)
class Element:
    """One element: the names of it and its parents from the root on, its attributes and its own text."""

    path: tuple[str, ...]
    attributes: Mapping[str, str]
    text: str = field(default="", init=False)


class XmlError(ValueError):
    """A document is refused: `where` (a line) and `problem`, without any of its text."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where, self.problem = where, problem


def read_elements(file: BinaryIO) -> list[Element]:
    """Read a whole document; the elements in the order in which they begin.

    Raises:
        XmlError: not well-formed, not whole, too large, nested too deeply, or with a document type (where entities
            are declared).
    """
    return _Reader().read(file)


class _Reader:
    def __init__(self) -> None:
        self._elements: list[Element] = []
        self._open: list[tuple[Element, list[str]]] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype

    def read(self, file: BinaryIO) -> list[Element]:
        try:
            size = 0
            while data := file.read(_CHUNK):
                size += len(data)
                if size > _LARGEST:
                    raise XmlError("the whole document", f"has more than {_LARGEST // 2**20} MiB")
                self._parser.Parse(data, False)
            self._parser.Parse(b"", True)
        except expat.ExpatError as why:
            problem = f"is not well-formed XML ({expat.ErrorString(why.code)})"
            raise XmlError(f"line {why.lineno}", problem) from None
        return self._elements

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        path = (*self._open[-1][0].path, name) if self._open else (name,)
        if len(path) > _DEPTH:
            raise self._refuse("is nested too deeply")
        element = Element(path, attributes)
        self._elements.append(element)
        self._open.append((element, []))

    def _end(self, name: str) -> None:  # noqa: ARG002 - expat's signature
        element, texts = self._open.pop()
        element.text = "".join(texts)

    def _characters(self, text: str) -> None:
        if self._open:
            self._open[-1][1].append(text)

    def _doctype(self, *_: object) -> None:
        raise self._refuse("has a document type (<!DOCTYPE>), which a record does not need; it is not read")

    def _refuse(self, problem: str) -> XmlError:
        return XmlError(f"line {self._parser.CurrentLineNumber}", problem)
