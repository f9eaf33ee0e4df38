"""Read an answer that ranks all options, "B > C > A > D", or that takes the former or the latter of two. Pure."""

import re
from collections.abc import Iterator
from itertools import islice

from agent.reading.choice import cues
from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.marked_answer import MarkedAnswer, OptionReference
from agent.reading.choice.references import PADDING, SIGNS
from agent.reading.choice.rules import COMMENTED_OPTIONS, STATED_ANSWER
from agent.reading.statements import is_denied, is_qualified, is_question

_MAX_PAIRS = 20
_REACH = 300  # characters before "the former" in which the two options stand
_NAME = rf"(?:[{SIGNS}]{PADDING}*|[A-J](?![\w'-]))"
_RANKING = re.compile(
    rf"(?:^|(?<=[\n:])|(?<=[:-]\s))(?P<chain>{_NAME}(?:\s?>{{1,2}}\s?{_NAME}){{2,9}})(?=\s?(?:$|\n|[.;(]))"
)
_MEMBER = re.compile(rf"(?:(?P<sign>[{SIGNS}]){PADDING}*|(?P<capital>[A-J])(?![\w'-]))")
_RANKS = re.compile(r"\b(?:rank\w*|order\w*|best|likel\w+|prefer\w*|suitab\w*|appropriate\w*)\b")
_RANKS_UPWARDS = re.compile(
    r"\b(?:worst|least)\b[^:\n]{0,30}\b(?:to|first)\b|\b(?:ascending|reverse)\b"
)
_NAMED = re.compile(
    rf"(?:(?P<sign>[{SIGNS}]){PADDING}*|(?P<capital>[B-HJ])(?![\w'-])|(?P<marked>A)(?=\s(?:and|or|vs)\b|[,;.)]))"
)
_FORMER = re.compile(
    r"(?:(?<=it's\s)|(?<=it\sis\s)|(?<=pick\s)|(?<=choose\s)|(?<=with\s)|(?<=prefer\s)|(?<=take\s)|(?<=favour\s)|(?<=favor\s)"
    r"|(?<=is\s)|(?<=say\s)|(?<=[,:]\s))the\s(?P<which>former|latter)(?=\s?(?:[.!,;]|$|\n)|\s(?:because|since|as|for)\b)"
)
_BOTH = re.compile(r"\bformer\b.*\blatter\b|\blatter\b.*\bformer\b", re.DOTALL)


def read_rankings(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Yield the claims of "C > B > A > D" and of "Between A and C, I pick the latter"."""
    if ">" in answer.plain:
        yield from _read_ranking(answer)
    if "the former" in answer.lower or "the latter" in answer.lower:
        yield from _read_former(answer)


def _read_ranking(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    rankings = list(islice(_RANKING.finditer(answer.text), 2))
    if len(rankings) != 1:
        return
    (ranking,) = rankings
    options = [
        answer.make_reference(member).option for member in _MEMBER.finditer(ranking["chain"])
    ]
    if sorted(options) != list(range(answer.options.count)):
        return
    heading = (
        answer.lower[max(0, ranking.start() - 120) : ranking.start()].strip().rpartition("\n")[2]
    )
    if heading and (not _RANKS.search(heading) or _RANKS_UPWARDS.search(heading)):
        return
    yield OptionClaim(
        options[0],
        ranking.start("chain"),
        ranking.end("chain"),
        ClaimStrength.CALLED_CORRECT,
        COMMENTED_OPTIONS,
    )


def _read_former(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read "the former" behind a sentence that sets two options beside each other."""
    if _BOTH.search(answer.lower):
        return
    for match in islice(_FORMER.finditer(answer.lower), _MAX_PAIRS):
        if is_denied(answer.text, match.start()) or is_question(answer.text, match.end()):
            continue
        if is_qualified(answer.text, match.end()):
            continue
        pair = _find_pair(answer, match.start())
        if pair:
            chosen = pair[0] if match["which"] == "former" else pair[1]
            yield OptionClaim(
                chosen.option, match.start(), match.end(), ClaimStrength.PROPOSED, STATED_ANSWER
            )


def _find_pair(answer: MarkedAnswer, end: int) -> tuple[OptionReference, OptionReference] | None:
    """Return the last two options before a position, if "and", "or" or "vs" joins them and they differ."""
    start = max(0, end - _REACH)
    named = [answer.make_reference(name) for name in _NAMED.finditer(answer.text, start, end)]
    if len(named) < 2:
        return None
    first, second = named[-2:]
    joined = answer.read_joined(first._replace(by_text=first.by_text))
    is_pair = len(joined) == 2 and joined[1].option == second.option != first.option
    before = answer.text[max(start, first.start - 3) : first.start]
    is_third = (
        len(named) > 2
        and before.endswith(", ")
        and bool(cues.JOINED.match(answer.text, named[-3].end))
    )
    return (first, second) if is_pair and not is_third else None
