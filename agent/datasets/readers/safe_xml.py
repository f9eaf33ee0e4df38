"""Read untrusted XML: document types are refused, so no entity is expanded or fetched; size and depth are limited."""

from dataclasses import dataclass, field
from typing import BinaryIO
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

from defusedxml.common import DTDForbidden
from defusedxml.expatreader import DefusedExpatParser

_DEEPEST = 100
_MAX_SIZE = 128 * 2**20  # bytes, far above any real record
_CHUNK = 2**20  # bytes


@dataclass(slots=True)
class Element:
    """One element: its path of element names from the root, its attributes and its own text."""

    path: tuple[str, ...]
    attributes: AttributesImpl
    text: str = field(default="", init=False)


class XmlError(ValueError):
    """A document is refused. `where` names a line; neither `where` nor `problem` quotes the document."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where = where
        self.problem = problem


def read_elements(file: BinaryIO) -> list[Element]:
    """Read a whole document, and return its elements in the order of their start tags.

    Raises:
        XmlError: the document is not well-formed, incomplete, too large, too deeply nested, or has a document type
            (which can declare entities).
    """
    parser = DefusedExpatParser(forbid_dtd=True)
    collector = _Collector()
    parser.setContentHandler(collector)
    parser.reset()  # otherwise an empty document would be accepted
    size = 0
    try:
        while data := file.read(_CHUNK):
            size += len(data)
            if size > _MAX_SIZE:
                raise XmlError("the whole document", f"has more than {_MAX_SIZE // 2**20} MiB")
            parser.feed(data)
        parser.close()
    except SAXParseException as why:
        problem = f"is not well-formed XML ({why.getMessage()})"
        raise XmlError(f"line {why.getLineNumber()}", problem) from None
    except DTDForbidden:
        problem = "has a document type (<!DOCTYPE>), which is not allowed in a record"
        raise XmlError(f"line {parser.getLineNumber()}", problem) from None
    except _TooDeepError:
        raise XmlError(
            f"line {parser.getLineNumber()}", "contains elements that are nested too deeply"
        ) from None
    return collector.elements


class _TooDeepError(Exception):
    """An element is nested more deeply than in any real record."""


class _Collector(ContentHandler):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[tuple[Element, list[str]]] = []

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802 - SAX's name
        path = (*self._open[-1][0].path, name) if self._open else (name,)
        if len(path) > _DEEPEST:
            raise _TooDeepError
        element = Element(path, attrs)
        self.elements.append(element)
        self._open.append((element, []))

    def endElement(self, name: str) -> None:  # noqa: ARG002, N802 - SAX's signature
        element, texts = self._open.pop()
        element.text = "".join(texts)

    def characters(self, content: str) -> None:
        self._open[-1][1].append(content)
