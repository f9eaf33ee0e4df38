"""Decide which of the queries of an answer it means, by the words around them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent.reading.caseless import compile_caseless
from agent.reading.queries.abstentions import find_abstention, find_stated_null
from agent.reading.queries.query import Query, fold
from agent.reading.queries.rules import ABSTENTION
from agent.reading.queries.statements import holds_other_statement

_AROUND = 300  # characters before or after a query that say whether it is meant
_ASKED_WITHIN = (
    600  # characters before or after all queries in which the answer may ask which one is meant
)
_NEAR_END = 1_000  # characters after all queries in which they may be taken back
_REJECTED = compile_caseless(
    r"\b(?:don't|do\snot|never|not|avoid|wouldn't|shouldn't)\s(?:\w{1,12}\s){0,3}?(?:us(?:e|ing)|write|run"
    r"|recommend|choose|want)\b|\b(?:wrong|incorrect|naive|faulty|broken|bad|rejected"
    r"|discarded)\b(?:\s\w{1,20}){0,3}\W*\Z"
    r"|\b(?:instead\sof|rather\sthan|unlike|as\sopposed\sto|replaces)\b[^.\n]{0,40}\Z|(?:\A|,)\W{0,4}not\W*\Z",
)
_FAULTED = re.compile(
    r"\A[\s.,`;)*]*(?:\w{1,20}[,:]?\s){0,3}?(?:this|that|it|the\s(?:query|above|first"
    r"|attempt)(?:\s\w{1,12})?)\s?(?:is\snot|isn't|is|was|would|will|won't|does\snot|doesn't|ignores|fails"
    r"|misses|lacks|forgets|returns|counts)?\s?(?:be\s|quite\s|exactly\s|the\s)?"
    r"(?:right|wrong|incorrect|correct\syet|work\b|fail|ignores|misses|enough|too\s|not\s|missing|answer\b"
    r"|filter\b|consider\b|account\b|handle\b|what\b)"
    r"|\A[\s.,`;)*]*but\s[^.\n]{0,80}\b(?:no\ssuch|(?:does\snot|doesn't|do\snot|don't)\sexist|would\s(?:fail|raise)"
    r"|an?\serror)\b"
    r"|\A[\s.,`;)*]*(?:would\s(?:fail|raise|not\srun)|(?:is\snot|isn't)\s(?:needed|necessary|required))\b"
    r"|\A[\s`]*is\s(?:wrong|worse|incorrect|not\s(?:right|correct))\b",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"\b(?:final(?:ly)?|corrected|correct|revised|improved|updated|complete|full|recommend\w{0,3}|better|best"
    r"|fixed|answer|put(?:ting)?\stogether|putting|combin\w{1,4}|altogether|therefore|thus|so\sthe|prefer(?:red)?|choose|settle"
    r"|go\swith|use\sthis)\b",
    re.IGNORECASE,
)
_CALLED_BETTER = re.compile(
    r"[\s`.,;)*]*(?:is|works|would\sbe)\s(?:the\s)?(?:better|best|right)\b", re.IGNORECASE
)
_BETTER_IN_COMMENT = re.compile(
    r"\s*--[^\n]*\b(?:better|final|fixed|corrected|best)\b", re.IGNORECASE
)
# "Step 2: count.", "Simplified:", "Wait, let me fix it:"
_SUCCEEDS = re.compile(
    r"\b(?:step\s[2-9]|simplif\w{1,4}|simpler|shorter|rewritten|whole|instead|replac\w{1,4}|wait|fix(?:ing)?|but\sthis"
    r"|new(?:er)?|then|next|now|with\sthat|on\stop\sof\sthat|together)\b",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(
    r"\b(?:alternative(?:ly|s)?|equivalent(?:ly)?|either|another\s(?:way|option|version|approach|query|possibility)"
    r"|other\s(?:option|version|way|approach)|second\s(?:option|version|way|approach|reading|interpretation)"
    r"|option\s(?:2|b|two)|if\syou\s(?:want|prefer|mean|need|instead)"
    r"|you\s(?:could|can|may|might)\salso|or(?:,)?\s(?:if|with|using|as|equivalently|simply|this|maybe"
    r"|perhaps)|version\s(?:2|b|two)|interpretation\s(?:2|b|two))\b|\b(?:query|option|version|variant"
    r"|possibility|interpretation|alternative)\s(?:b|2|two|ii)\b|\(b\)\W*\Z|\bif\b[^.\n]{2,80}[,:]\s*(?:use"
    r"|try|run"
    r"|you|then|it|the|\Z)|\bto\s[^.\n]{3,60}\sinstead\W*\Z|\b(?:maybe|perhaps|possibly)\b\W*\Z|(?:^|\n)[\s`]*or\b\W{0,4}\s*\Z",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:do|did)\syou\s(?:mean|want|need|have)\b[^.!\n]{0,120}\?|\bboth\s(?:queries\s|versions\s|options\s"
    r"|of\sthem\s)?(?:are|work|would)\b|"
    r"\b(?:which|what)\b[^.!\n]{0,120}\?|\b(?:let\sme\sknow|tell\sme)\s(?:which|what)\b|\bdepend(?:s"
    r"|ing)\son\b|\b(?:one|any|either)\sof\s(?:these|them|the\s(?:two|queries|above|following))\b|\byou\spick\b|\byour\s(?:pick|choice)\b|\bnot\ssure\swhich\b|\bpick\s(?:one|whichever)\b|\bwhichever\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"^\W{0,4}question\s?\d{0,3}\W{0,3}:", re.IGNORECASE | re.MULTILINE)
_LEADING_NULL = re.compile(
    r"\W{0,6}(?:null|n/a|unanswerable)\b(?!\W{1,3}or\b|\s(?:is|are|values?|means|will|would|can|and|rows?)\b)",
    re.IGNORECASE,
)
_NULL_LINE = re.compile(
    r"\W{0,6}(?:(?:final\s)?(?:answer|output|result)\s?(?:is|:)?\W{0,4})?(?:null|n/a|unanswerable)\W{0,4}",
    re.IGNORECASE,
)
# "... there is no such column, so my answer is null."
_NULL_SENTENCE = re.compile(
    r"\b(?:my|(?:so|thus|hence|therefore),?\s(?:the|my))\s(?:final\s)?(?:answer|output|result|query|reply)\s"
    r"(?:is|should\sbe|must\sbe|has\sto\sbe)\W{1,4}(?:null|n/a|unanswerable)\W{0,4}\Z",
    re.IGNORECASE,
)
# "SELECT ...; or null, if you consider this unanswerable"
# "null, or maybe" before a query
_NULL_OR = re.compile(
    r"\b(?:null|n/a)\b\W{1,6}or\b(?:\s(?:maybe|perhaps|possibly|else|rather|just|simply))?\W*\Z",
    re.IGNORECASE,
)
# "SELECT 'not answerable'": what it means is for its author to say.
_CONSTANT_APOLOGY = re.compile(
    r"\s*select\s{1,9}(?P<mark>['\"])[^'\"\n]{0,100}\b(?:not?|cannot|can't|unanswerable|unknown|unavailable|n/a|none)\b"
    r"[^'\"\n]{0,100}(?P=mark)(?:\s{1,9}as\s{1,9}\S{1,40})?[;\s]*",
    re.IGNORECASE,
)
# "Alternatively, if no duration can be derived: null" behind a query
_ALTERNATIVE_NULL = re.compile(
    r"\W{0,9}(?:alternatively|otherwise|or,?\sif|or\selse)\b[^.]{0,200}?(?:null|n/a|unanswerable)\W{0,9}\Z",
    re.IGNORECASE,
)
_OR_NULL = re.compile(
    r"\bor\s(?:simply\s|just\s|rather\s|else\s|perhaps\s)?[\"'`]?null\b[\"'`]?(?:\s?,)?\s(?:if|in\scase|when|should)\b",
    re.IGNORECASE,
)
# "I go with option B", below queries with the heads "Option A" and "Option B"
_CHOSEN_HEAD = re.compile(
    r"\b(?:go(?:ing)?\swith|choose|chose|pick|prefer|use|recommend|submit|settle\son|answer\sis|final\sanswer\s?:)\s(?:the\s)?"
    r"(?P<head>(?:option|query|version|variant|candidate)\s(?P<name>[a-d]|[1-9]))\b",
    re.IGNORECASE,
)
_IMAGINED = re.compile(
    r"\b(?:if|would|could|were|had|example|hypothetical\w{0,2}|suppose|assuming)\b", re.IGNORECASE
)
_SECOND_STATEMENT = re.compile(r";\s*(?:select|with)\b", re.IGNORECASE)
_BARE_NULL = re.compile(r"[\s`;]*(?:null|n/a)[\s`;.]*", re.IGNORECASE)
_TURNS_TO_QUERY = re.compile(r"\b(?:but|however|otherwise|else|instead|unless|if)\b", re.IGNORECASE)
# A whole sentence that no query answers the question
_UNANSWERED = compile_caseless(
    r"\b(?:question|query|request|this|that|it)\s(?:\w{1,12}\s){0,2}?(?:cannot|can\snot|can't|could\snot|couldn't)\sbe\s"
    r"(?:\w{1,12}\s){0,2}?(?:answered|determined|derived|computed|queried|resolved)\b"
    r"|(?:\bnot|n't)\s(?:be\s)?(?:possible|able)\sto\s(?:\w{1,12}\s)?(?:answer|write|determine|generate)\b"
    r"|(?:\bnot|n't)\shave\s(?:\w{1,12}\s)?information\b[^.\n]{0,60}\bto\sanswer\b"
    r"|\b(?:cannot|can't|can\snot)\s(?:\w{1,12}\s)?answer\sth(?:is|e)\b|\bunanswerable\b"
    r"|\bnot\s(?:one\s)?(?:which\s|that\s)?(?:can\sbe\s)?answer(?:ed|able)\b"
)
_COUNTERFACTUAL = re.compile(
    r"\b(?:existed|would\s(?:look|be|read|work)|hypothetical\w{0,2}|if\s(?:there\s(?:were|was)|it\s(?:were|was|had)"
    r"|the\s(?:schema|database|tables?)\s(?:had|contained|included|stored)))\b",
    re.IGNORECASE,
)
# "... cannot be answered by diagnosis alone, so I use the treatments:"
_SOLVES = re.compile(
    r"\b(?:so|therefore|thus|hence)\b(?:\s?:|[^.\n]{0,40}\b(?:use|take|join|count|approximate|assume|proxy)\b)"
    r"|\b(?:wait|actually|correction)\b",
    re.IGNORECASE,
)
# "Actually, ..." after a query
_TURN = re.compile(r"(?:\A|\n)\W{0,4}(?:actually|wait|correction|edit|hmm)\b\W{0,3}", re.IGNORECASE)
_FENCE_MARK = re.compile(r"```\w*")
_WORDS = re.compile(r"[A-Za-z]{3,}")
_RETRACTION = re.compile(
    r"\b(?:(?:do\snot|don't)\suse\s(?:it|this|that)|(?:please\s)?(?:ignore|disregard)\s(?:it|this|that"
    r"|the\s(?:above|query)|my)|scratch\sthat|(?:this|that|it)\s(?:is\snot|isn't|is|was)\s(?:right"
    r"|correct(?=\W*\Z)|wrong|incorrect)(?<!is right)(?<!is correct)"
    r"|take\s(?:it|that|this)\sback|on\ssecond\sthought|need\sto\sthink|have\sto\sthink)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Offer:
    """A query with the text around it, which says whether it is meant.

    Attributes:
        query: the query.
        before: the end of the text between the previous query and this one, without the marks of code.
        after: the beginning of the text between this query and the next one, without the marks of code.
    """

    query: Query
    before: str
    after: str

    @property
    def introduction(self) -> str:
        """The last paragraph before it."""
        return _get_last_paragraph(self.before)

    @property
    def is_rejected(self) -> bool:
        """Whether the text before it warns of it, or the text after it finds fault with it."""
        return bool(_REJECTED.search(self.introduction) or _FAULTED.match(self.after))

    @property
    def is_final(self) -> bool:
        """Whether the words around it call it final, corrected or the best."""
        if _FINAL.search(self.introduction):
            return True
        return bool(_CALLED_BETTER.match(self.after) or _BETTER_IN_COMMENT.match(self.query.text))

    @property
    def is_successor(self) -> bool:
        """Whether the text before it lets it take the place of the query before, or builds it on that one."""
        return _SUCCEEDS.search(self.introduction) is not None

    @property
    def is_alternative(self) -> bool:
        """Whether the text before it offers it as one of several."""
        return _ALTERNATIVE.search(self.before) is not None


def is_unclear(query: Query, answer: str) -> bool:
    """Return whether a query is several statements side by side, or abstains in a text that the answer explains.

    "SELECT 'not answerable'" alone is a query. With words around it that say so too, it may be meant as null.
    """
    if holds_other_statement(query.text):
        return True
    if not _CONSTANT_APOLOGY.fullmatch(query.text):
        return False
    return bool(_WORDS.search(_FENCE_MARK.sub("", answer.replace(query.text, ""))))


def choose_query(answer: str, queries: list[Query]) -> Query | None:
    """Return the query that an answer means, or None if it offers several or takes it back."""
    queries = _drop_begun_again(queries)
    opening, rest = answer[: queries[0].start], answer[queries[-1].end :]
    offers = [offer for offer in _list_offers(answer, queries) if not offer.is_rejected]
    if not offers and not rest.strip():
        return None
    if offers and _ALTERNATIVE_NULL.match(rest):
        return None
    if not offers or _states_null_at_end(rest):
        # Directly below a query, the mere word contradicts it.
        is_bare = offers and _BARE_NULL.fullmatch(rest)
        return None if is_bare else find_abstention(rest, offset=queries[-1].end)
    turn = _TURN.search(rest)
    if turn is not None:
        abstention = find_abstention(rest[turn.end() :], offset=queries[-1].end + turn.end())
        if abstention is not None:
            return abstention
    if _LEADING_NULL.match(opening):
        # The query after "null" is what would answer another question, or contradicts it.
        return find_abstention(opening) if _IMAGINED.search(opening) else None
    if _NULL_OR.search(opening[-_AROUND:]):
        return None
    abstention = _find_abstention_before(opening) or _find_null_before(opening)
    if abstention is not None:
        # The query would answer another question, or this one if the tables were others.
        return abstention if _COUNTERFACTUAL.search(opening, abstention.end) else None
    if _RETRACTION.search(rest[:_NEAR_END]) or _OR_NULL.search(rest[:_NEAR_END]):
        return None
    if len({fold(offer.query.text) for offer in offers}) == 1:
        only_query = offers[0].query
        # Several statements are one query, which no database runs, unless they are offered for a choice.
        holds_several = _SECOND_STATEMENT.search(only_query.text)
        return None if holds_several and _asks_which(opening, rest) else only_query
    if _asks_which(opening, rest):
        return None
    return _find_chosen_by_head(answer, queries) or _choose_offer(offers)


def _drop_begun_again(queries: list[Query]) -> list[Query]:
    """Return the queries without a last one that only begins the one before again, where the answer breaks off."""
    if len(queries) < 2:
        return queries
    last, before = fold(queries[-1].text), fold(queries[-2].text)
    return queries[:-1] if last != before and before.startswith(last) else queries


def _find_abstention_before(opening: str) -> Query | None:
    """Return the sentence before all queries that says that none answers the question; None if a solution follows."""
    unanswered = _UNANSWERED.search(opening)
    if unanswered is None or _SOLVES.search(opening, unanswered.end()):
        return None
    return Query("", unanswered.start(), unanswered.end(), ABSTENTION)


def _find_null_before(opening: str) -> Query | None:
    """Return the "null" that is stated as the answer before all queries; None if a solution follows."""
    null = find_stated_null(opening)
    if (
        null is None
        or _SOLVES.search(opening, null.end())
        or _TURNS_TO_QUERY.search(opening, null.end())
    ):
        return None
    return Query("", null.start(), null.end(), ABSTENTION)


def _list_offers(answer: str, queries: list[Query]) -> Iterator[_Offer]:
    previous_ends = [0, *(query.end for query in queries[:-1])]
    next_starts = [*(query.start for query in queries[1:]), len(answer)]
    for query, previous_end, next_start in zip(queries, previous_ends, next_starts, strict=True):
        before = answer[previous_end : query.start][-_AROUND:]
        after = answer[query.end : next_start][:_AROUND]
        yield _Offer(query, _FENCE_MARK.sub("", before), _FENCE_MARK.sub("", after))


def _asks_which(opening: str, rest: str) -> bool:
    """Return whether the text before or after all queries asks which of them is meant."""
    is_asked_after = _ASKS.search(rest[:_ASKED_WITHIN]) is not None
    return is_asked_after or _ASKS.search(opening[-_ASKED_WITHIN:]) is not None


def _choose_offer(offers: list[_Offer]) -> Query | None:
    """Return the last query if it is called final or replaces the others, or the only one that is called final.

    None if the text chooses none, and lets the queries stand side by side.
    """
    last = offers[-1]
    final = [offer for offer in offers if offer.is_final]
    if final and (final[-1] is last or len(final) == 1):
        heads = [offer.introduction.strip() for offer in final]
        # "Answer: SELECT ...", and again "Answer:" with another query
        return None if heads.count(heads[-1]) > 1 else final[-1].query
    if any(offer.is_alternative for offer in offers) or not last.is_successor:
        return None
    return last.query


def _find_chosen_by_head(answer: str, queries: list[Query]) -> Query | None:
    """Return the query under the head that the text after all queries chooses: "I go with option B."."""
    choices = list(_CHOSEN_HEAD.finditer(answer, queries[-1].end))
    if len({choice["name"].lower() for choice in choices}) != 1:
        return None
    head = re.compile(
        rf"\b{re.escape(choices[0]['head'])}\b[^.\n]{{0,40}}:?[\s*`]*(?:sql)?\s*\Z", re.IGNORECASE
    )
    named = [
        query for query in queries if head.search(answer, max(0, query.start - 100), query.start)
    ]
    return named[0] if len(named) == 1 else None


def drop_queries_of_other_questions(answer: str, queries: list[Query]) -> list[Query]:
    """Return the queries before the text goes on with another question, as models without a stop do."""
    for question in _QUESTION.finditer(answer, queries[0].end):
        return [query for query in queries if query.start < question.start()]
    return queries


def _get_last_paragraph(text: str) -> str:
    return text.rstrip(' \n`*:"').split("\n\n")[-1]


def _states_null_at_end(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip(" `*")]
    if not lines:
        return False
    return _NULL_LINE.fullmatch(lines[-1]) is not None or _NULL_SENTENCE.search(text) is not None
