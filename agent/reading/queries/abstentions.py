"""Find the words by which an answer abstains: null, or that the question cannot be answered with the tables."""

import re

from agent.reading.caseless import compile_caseless
from agent.reading.queries.query import Query
from agent.reading.queries.rules import ABSTENTION
from agent.reading.queries.statements import COMMENT, START

_EMPTY_ELEMENT = re.compile(r"\s*<\s*sql\s*>\s*(?:</?\s*sql\s*>)?\s*", re.IGNORECASE)
_NULL = r"[\"'`*_\[({<]{0,4}\b(?:null|none|n/a|unanswerable)\b[\"'`*_\])}>]{0,4}"
_ABSTAINS = re.compile(
    r"null|none|nil|nan|n/?a|unanswerable|not answerable|no answer|cannot answer|can't answer"
    r"|empty(?: string)?|no (?:sql|query)(?: possible)?|not possible|impossible|abstain|out of scope"
    r"|no valid (?:sql )?query|unknown|undefined",
    re.IGNORECASE,
)
_STATES_NULL = compile_caseless(
    rf"(?:\A|\n)[ \t>*_#-]{{0,8}}(?:(?:sql|query|sql\squery|final\squery|final\ssql)\s?:\s?)?{_NULL}(?=\s*(?:\Z"
    rf"|\n|[.;:(]|,(?!\s?(?:but|however|or)\b)|\s-\s|–|—|(?:because|since|as|given)\b|\s*--))"
    rf"|\b(?:answer|output|result|response|query|sql|return|write|report|give|say|sql\squery)\s?(?:(?:is|here"
    rf"|would\sbe|must\sbe|should\sbe|will\sbe|to)\s?){{0,2}}(?:just\s|simply\s"
    rf"|the\ssingle\sword\s)?[:=]?\s{{0,3}}{_NULL}(?!\s?,?\s(?:but|however|or|values?|rows?|if|when|and"
    rf"|hypothes\w*|is\snot)\b)"
    rf"|\b(?:so|therefore|thus|hence|returning|outputting|answering|writing|with)\b,?\s(?:it\sis\s|it's\s"
    rf"|i\s(?:return|write|answer|output|give|say)\s|the\s\w{{1,12}}\sis\s)?{_NULL}(?!\s?,?\s(?:but|however|or"
    rf"|values?|rows?|if|hypothes\w*|\w+s\b))"
    rf"|[.!?]\s{{1,3}}{_NULL}\W*\Z"
    rf"|\b(?:query|answer|sql)\s(?:for|to)\sth(?:is|e)\squestion\s(?:is|would\sbe|must\sbe)\s{_NULL}(?!\s(?:if|when)\b)"
    rf"|(?:\A|[,;:])\s?(?:(?:most\s)?(?:probably|likely)|presumably|i\s(?:think|guess|say))\s{_NULL}\W*\Z"
    rf"|(?::|=>|->|→|=)\s{{0,3}}{_NULL}\s*(?:\Z|[.\n])",
)
_UNANSWERABLE = compile_caseless(
    r"\b(?:unanswerable|not\s(?:be\s)?answerable|(?:cannot|can\snot|can't|could\snot"
    r"|couldn't)\sbe\s(?:\w{1,12}\s)?(?:answered|derived|determined|expressed|computed|calculated|retrieved"
    r"|obtained|resolved|queried|done|achieved|generated|written|inferred|found)"
    r"|(?:cannot|can\snot|can't|unable\sto|not\sable\sto|not\spossible\sto|impossible\sto"
    r"|isn't\spossible\sto)\s(?:\w{1,12}\s)?answer|out[\s_-]?of[\s_-]?scope|abstain\w{0,3}"
    r"|no\sanswer\s(?:is\s)?(?:possible|exists|available)"
    r"|(?:not\spossible|impossible|isn't\spossible)\s(?:with|from|on|in|using|given)\s"
    r"|no\s(?:valid\s)?(?:sql\s)?(?:query|statement|sql)\s(?:is\spossible|possible|can|could|exists|would|will"
    r"|is\savailable)"
    r"|(?:return|write|output|give|submit|provide)\sno\s(?:sql|query|statement)\b"
    r"|not\sanswerable|nothing\sto\squery|answerable\W{1,4}(?:no|false)|beyond\sthe\s(?:scope|schema)"
    r"|not\ssupported\sby\s(?:the|this)\s(?:schema|database|data|tables)"
    r"|nicht\s(?:\w{1,20}\s){0,4}(?:beantworte\w{1,4}|möglich)|no\s(?:se\spuede|es\sposible"
    r"|puede\sser)\s(?:responde\w{1,4}|contesta\w{1,4})|ne\speut\spas\s(?:être\s)?répond\w{1,4}"
    r"|non\s(?:si\spuò|è\spossibile|può)\s(?:essere\s)?rispon?[ds]\w{1,5}|não\s(?:pode\sser"
    r"|é\spossível)\srespond\w{1,4})\b"
    r"|无法(?:[^。\n]{0,30}回答|查询)|無法(?:[^。\n]{0,30}回答|查詢)|回答できません|답할 수 없",
)
_NO_QUERY = compile_caseless(
    r"\b(?:cannot|can\snot|can't|won't|will\snot|unable\sto|not\sable\sto|not\spossible\sto|impossible\sto"
    r"|isn't\spossible\sto|no\sway\sto|couldn't|could\snot)\s(?:\w{1,12}\s){0,2}?"
    r"(?:write|generate|create|produce|construct|formulate|build|derive|provide|give|compute|determine"
    r"|retrieve|find|identify|query|obtain|calculate|extract|get|tell|look|express|say|list|compose)\b",
)
_LACKS = re.compile(
    r"\b(?:no|none|not|nothing|neither|lacks?|lacking|missing|without|nowhere|absent|doesn't|don't|isn't"
    r"|aren't|does\snot|do\snot)\b[^.!?\n]{0,120}\b(?:tables?|columns?|schema|database|fields?|dataset|stored"
    r"|recorded|contain\w{0,3}|information|data|attributes?|available|present|included|captured|tracked)\b"
    r"|\b(?:tables?|columns?|schema|database|fields?|dataset|information|data)\b[^.!?\n]{0,120}\b(?:no|none"
    r"|not|nothing|lacks?|lacking|missing|doesn't|don't|isn't|aren't|absent)\b",
    re.IGNORECASE,
)
# Statements that the tables lack something, which say enough as a whole answer.
_TABLES_LACK = compile_caseless(
    r"\b(?:no|none\sof\sthe)\s(?:\w{1,20}\s){0,3}(?:tables?|columns?|fields?)\b|\b(?:tables?|columns?|schema"
    r"|database|dataset|data)\s(?:\w{1,20}\s){0,2}?(?:do(?:es)?(?:n't|\snot)|ha(?:s|ve)\sno|lacks?"
    r"|contains?\sno|stores?\sno|holds?\sno|includes?\sno)\b"
    r"|\b(?:not|n't|nowhere|never)\s(?:(?!null\b)\w{1,12}\s){0,2}?(?:stored|recorded|tracked|available"
    r"|captured|present|included|contained|part\sof|in)\b[^.!?\n]{0,60}\b(?:tables?|schema|database|dataset"
    r"|data)\b|\binsufficient\s(?:information|data)\b"
    r"|\b(?:tables?|schema|database|dataset|data)\s(?:cannot|can\snot|can't|could\snot"
    r"|couldn't)\s(?:\w{1,12}\s)?(?:tell|answer|provide|give|show|support|say|help)\b"
    r"|\b(?:not\s(?:something|a\squestion)|beyond\swhat)\s(?:that\s)?(?:the|these|this|those)\s(?:tables?"
    r"|schema|database|data)\scan\b"
    r"|\b(?:don't|do\snot)\shave\s(?:any\s|the\s)?(?:data|information|columns?|tables?|fields?)\b",
)
# "I can't provide a patient's address."
_IS_REFUSED = compile_caseless(
    r"\bi(?:'m\ssorry,?\sbut\si)?\s(?:cannot|can't|can\snot|won't)\s(?:provide|share|give|disclose|reveal)\b"
)
_NOT_STORED = compile_caseless(
    r"\bno\s(?:\w{1,20}\s){1,4}?(?:tables?|columns?|fields?)\b(?:\s(?:in|for|of|that)\b)?"
    r"|(?:\bnot|n't|\bnowhere)\s(?:\w{1,12}\s)?(?:stored|recorded|kept|held|included|contained|available|present)\sin\s"
    r"(?:the|this|these|any|your)\s(?:\w{1,12}\s){0,2}?(?:tables?|schema|database|dataset|data)\b"
)
_GOES_ON = re.compile(
    r"\b(?:but|however|although|though|instead|approximat\w{1,5}|assum\w{1,5}|would|could|if)\b",
    re.IGNORECASE,
)
_MAX_REASON = 300  # characters
_MAX_NOTHING = 200  # characters
_CLAUSE_END = re.compile(r"[.,;!?\n]")
_DENIES = re.compile(r"\b(?:not|isn't|never|if|whether|unless)\b", re.IGNORECASE)
_FENCE_MARK = re.compile(r"```\w*")
_MARKUP = re.compile(r"\\boxed|\\text|</?\w+>|```\w*")
_LABEL = re.compile(
    r"\A\W*(?:final\s)?(?:answer|output|result|sql|query|sql\squery)\s?(?:is|:)\s?", re.IGNORECASE
)
_REQUEST = re.compile(
    r"\b(?:please|could\syou|can\syou|would\syou|kindly)\s(?:\w{1,12}\s)?(?:share|provide|clarify|give|send"
    r"|specify|paste|tell|confirm|rephrase)\b|\bi(?:'d|\swould)?\sneed\s(?:to\s(?:know|see)|the|more|your)\b"
    r"|\?\s*\Z",
    re.IGNORECASE,
)
_PRIVATE = compile_caseless(
    r"\b(?:privacy|private|confidential\w{0,3}|comfortable|hipaa|ethic\w{0,4}|sensitive|protected\shealth"
    r"|policy|policies|as\san\sai|individual\spatients|permission|authori[sz]\w{1,5}|access\sto\s(?:the|a|your"
    r"|any)\s(?:\w{1,12}\s)?database)\b",
)


def find_abstention(answer: str, offset: int = 0) -> Query | None:
    """Return the abstention of an answer without a query, or None if it does not abstain."""
    if _is_mere_comment(answer) or _EMPTY_ELEMENT.fullmatch(answer) or is_nothing(answer):
        return Query("", offset, offset + len(answer), ABSTENTION)
    text = answer.replace("`", " ") if "```" in answer else answer
    stated = find_stated_null(text) or _find_reason(text)
    if stated is None:
        return None
    return Query("", offset + stated.start(), offset + stated.end(), ABSTENTION)


def _is_mere_comment(answer: str) -> bool:
    """Return whether an answer is a comment of SQL, which holds no query: "-- no such column"."""
    if not answer.lstrip().startswith(("--", "/*")) or START.search(answer):
        return False
    return not COMMENT.sub("", answer).strip(" \t\n;")


def find_stated_null(text: str) -> re.Match[str] | None:
    """Return the last "null" that a text states as the answer and does not deny."""
    for match in reversed(list(_STATES_NULL.finditer(text))):
        clause = _CLAUSE_END.split(text[: match.start()])[-1]
        if not _DENIES.search(clause + match[0][: -len("null")]):
            return match
    return None


def _find_reason(text: str) -> re.Match[str] | None:
    """Return the words that say that no query can answer the question, unless the text asks or refuses.

    Who refuses for privacy abstains too, if the tables are said to hold no such thing.
    """
    if _REQUEST.search(text):
        return None
    if _PRIVATE.search(text) or _IS_REFUSED.search(text):
        lacks = _NOT_STORED.search(text)
        if lacks is not None or _PRIVATE.search(text):
            return lacks
    unanswerable = _UNANSWERABLE.search(text)
    if unanswerable is not None:
        return unanswerable
    refusal = _NO_QUERY.search(text)
    if refusal is not None and _LACKS.search(text):
        return refusal
    if len(text) <= _MAX_REASON and not _GOES_ON.search(text):
        return _TABLES_LACK.search(text)
    return None


def is_nothing(text: str) -> bool:
    """Return whether a text is only a word for "no query": null, None, N/A, an empty string."""
    if len(text) > _MAX_NOTHING:
        return False
    if text.strip() in ("", "''", '""', ";"):
        return True
    if text.lstrip().startswith("```") and not _FENCE_MARK.sub("", text).strip():
        return False
    text = _LABEL.sub("", _MARKUP.sub(" ", text))
    return _ABSTAINS.fullmatch(text.strip(" \t\n'\"`.;:!()<>[]{}*_$\\")) is not None
