"""Texts that must not reach a page: planted identifiers and script, and a reader of markup that finds them."""

from html.parser import HTMLParser

from agent.vocabulary import Reference
from tests.agent.service.filled_site import FilledSite, case

CANARIES = (
    "Holloway",
    "00451234",
    "03/14/2022",
    "617-555-0143",
    "holloway@ward7.example",
    "Willow Creek",
)
LEAKY = (
    "Margaret Holloway, MRN: 00451234, was seen on 03/14/2022 at Willow Creek Medical Center; "
    "call 617-555-0143 or margaret.holloway@ward7.example."
)
SCRIPTS = (
    "<script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "</div></details><svg onload=alert(1)>",
    "{{ 7*7 }} {% raw %} javascript:alert(1)",
    "'\"><a href=javascript:alert(1)>x</a>",
)


class Markup(HTMLParser):
    """Element names, attribute names and link targets of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.targets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.targets += [value or "" for name, value in attrs if name in ("href", "src")]


def leak(filled: FilledSite, text: str, **details: str) -> str:
    """Add a run with the text in every place of a case that holds text; return its id."""
    leaky = case(
        prompt=text,
        answer=f"I agree: {text}",
        reasoning=f"Think. {text}",
        references=(Reference(text, True),),
        identity=text,
        unit=text,
    )
    return filled.add([leaky], **details)
