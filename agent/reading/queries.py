"""Read the SQL query of an answer, or that the answer abstains from writing one. Pure; nothing is run.

A query can be the whole answer, or stand in a code fence, between backticks, in an element, in a JSON field, in a
string of a program or in a sentence. If the answer holds several queries, the last one is its answer, unless the text
offers them as alternatives, rejects one, or calls another one final. Without a query, an answer abstains if it says so:
null, or that the question cannot be answered with the tables.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.reading.caseless import compile_caseless
from agent.reading.json_decoding import EndlessTextError
from agent.reading.json_objects import (
    JsonList,
    JsonMember,
    JsonScalar,
    find_members,
)
from agent.reading.reading import Reading

ABSTENTION = "abstention"

RULES = {
    "whole answer": ("The answer is a query and nothing else.", "SELECT name FROM drug;"),
    "JSON field": (
        "A JSON field named sql, query, answer or the like holds the query, or null.",
        '{"sql": "SELECT name FROM drug;"}',
    ),
    "code": (
        "A code fence or backticks enclose the query.",
        "The query:\n```sql\nSELECT name FROM drug;\n```",
    ),
    "query in text": (
        "The query is part of the text.",
        "The SQL query is: SELECT name FROM drug; It lists all drugs.",
    ),
    ABSTENTION: (
        "The answer says null, or that the question cannot be answered with the tables.",
        "The question cannot be answered with the given tables.",
    ),
}
"""The rules by name, each with its meaning and an example."""


@dataclass(frozen=True, slots=True)
class _Query:
    """A query that an answer holds from `start` to `end`, or an abstention, whose text is empty."""

    text: str
    start: int
    end: int
    rule: str


_MAX_LENGTH = 200_000  # characters; a longer answer is an endless repetition
_MAX_QUERIES = 50
_AROUND = 300  # characters before or after a query that say whether it is meant
_ASKED_WITHIN = (
    600  # characters before or after all queries in which the answer may ask which one is meant
)
_NEAR_END = 1_000  # characters after all queries in which they may be taken back

_FENCE = re.compile(
    r"```[ \t]*(?:\w{1,20}(?=[ \t]*\n)|sqlite|sql)?[ \t]*\n?(.*?)(?:```|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_BACKTICKS = re.compile(r"(?<!`)`(?!`)([^`\n]{6,8000})`(?!`)")
_STRUCK = re.compile(r"(?<!~)~~(?!~)[^~\n]{1,8000}~~(?!~)")
_EMPTY_ELEMENT = re.compile(r"\s*<\s*sql\s*>\s*(?:</?\s*sql\s*>)?\s*", re.IGNORECASE)
_ELEMENT_MARK = re.compile(
    r"</?\s?(?:sql|query|sql_query|answer|final_answer|code|pre|output|response|result|p|html|body|div|span|br"
    r"|b|strong|h\d|li|ul)\b[^<>\n]{0,100}>",
    re.IGNORECASE,
)
_PROMPT_MARK = re.compile(
    r"\s*(?:sqlite>|mysql>|sql>|sql\s*:|sqlite\s*:|sql\s*\n|(?:sql\s)?query\s*:|answer\s*:|\$\s)\s*",
    re.IGNORECASE,
)
_LINE_COMMENTS = re.compile(
    r"(?:[ \t]*(?<!-)--(?!-)[^\n]*\n\s*|[ \t]*/\*(?:[^*]|\*(?!/)){0,5000}\*/\s*)+\Z"
)
# What a comment after a statement holds is not run, even if it is another query.
_COMMENTS_AFTER = re.compile(r"(?:\s*--(?!-)[^\n]*|\s*/\*.*?(?:\*/|\Z))+", re.DOTALL)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)

_NAME = r"[\w\"\[\]`]{1,100}"
_READS = (
    rf"(?<![\w.-])(?:select(?=[\s(*'\"\[`])"
    rf"|with\s{{1,9}}(?:recursive\s{{1,9}})?{_NAME}\s{{0,9}}(?:\([^()]{{0,500}}\)\s{{0,9}})?as\s{{0,9}}(?:(?:not\s{{1,9}})?materialized\s{{0,9}})?\("
    r"|values\s{0,9}\((?=\s{0,9}['\"\d(-]))"
)
_WRITES = (
    r"(?:(?:insert|replace)\s(?:or\s\w{1,20}\s)?into\b|update\s\S{1,100}\sset\b|delete\sfrom\b(?!\s(?:your|my"
    r"|the|our|an?)\s)"
    r"|create\s\w{1,20}\s\w|(?:alter|drop)\s(?:table|view|index|trigger)\b"
    r"|(?:attach|detach|pragma|vacuum)\b(?=\s[^\s]|\s*(?:;|\Z))|(?:begin|commit|rollback|end|analyze|explain"
    r"|savepoint|release|reindex)\s*(?:\w{1,40}\s*)?(?:;|\Z)"
    r"|explain\s(?:query\splan\s)?select\b)"
)
# In a sentence, only reading statements are looked for: "Update the table set out above".
_START = re.compile(
    rf"{_READS}|(?:^|(?<=['\"`]))[ \t]{{0,20}}{_WRITES}", re.IGNORECASE | re.MULTILINE
)
_NEXT_STATEMENT = re.compile(rf"{_READS}|{_WRITES}", re.IGNORECASE)
_PIECE = re.compile(
    r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\[[^\[\]\n]{0,200}\]|--[^\n]*|/\*.*?\*/|[();'\"]|\n[ \t]*\n\s*|\n"
    # No query has these words outside of its texts.
    r"|\s(?:which|that|because|since|whereas|please|returns|gets|gives|finds|fetches|retrieves|would|will"
    r"|should|could|might|seems|but|is(?=\s(?:the|my|your|what|correct|right|wrong|better|worse)\b))(?=\s)"
    r"|\.(?=\s)",
    re.DOTALL,
)
_CONTINUES = re.compile(
    r"\s*(?:from|where|group|order|limit|union|intersect|except|and|or|join|left|inner|outer|cross|natural"
    r"|having|on|select|offset|window|case|when|end|\)|\(|,|--|/\*)",
    re.IGNORECASE,
)
# A line that begins like a sentence: "This query counts ...", "Note that ...".
_PROSE_LINE = re.compile(
    r"[ \t]{0,20}(?:#|\*\*|- |\d\. |>|~|\||={3}|-{3})|[ \t]{0,20}(?:This|These|That|The|It|Note|Explanation"
    r"|Here|I|In|Let|Hope|Please|Self-check|Question|Answer|Where|We|You|If|Alternatively|Or|Also"
    r"|Since|Because|Assum\w{1,4}|Reason\w{0,4}|Confidence|Tables?|Output|Result|SQL|However|Wait|Hmm|Actually"
    r"|First|Then|To|A|An|As|For|Some|My|Thought)\b(?:[ ,:]|'[a-z])"
    r"|[ \t]{0,20}(?:Right|Wrong|Correct(?:ed)?|Better|Final|Fixed|Revised|Option|Version|Query)\b[^\n,()'\"]{0,20}:",
)
_NOT_A_QUERY = re.compile(
    r"select\s{1,9}(?:distinct\s{1,9})?(?:with|statements?|quer(?:y|ies)|clauses?|the|only|those|these|which"
    r"|that|from|and|or|for|to|your|each|every|any|one|keyword|is|in|it|as|list|an?\s(?!from\b|,))\b"
    r"|select\s{1,9}all\s(?!\w{1,40}\s{1,9}from\b)",
    re.IGNORECASE,
)
_KEYWORD = (
    r"(?:as|distinct|case|when|then|else|end|over|partition|by|order|and|or|not|null|is|in|like|between|asc"
    r"|desc|from|select|where|cast|collate|nocase|exists|rows|unbounded|preceding|current|row|filter|glob)"
)
_PROSE_RUN = re.compile(
    rf"\b(?!{_KEYWORD}\b)[a-z]\w*\s+(?!{_KEYWORD}\b)[a-z]\w*\s+(?!{_KEYWORD}\b)[a-z]\w*",
    re.IGNORECASE,
)
_FROM_PROSE = re.compile(
    r"\bfrom\s{1,9}(?:the|each|all|this|that|those|these|your|which|an?|every|any|both)\s",
    re.IGNORECASE,
)
_FROM = re.compile(r"\bfrom\b", re.IGNORECASE)
_CONSTANT = re.compile(
    r"select\s{1,9}(?:distinct\s{1,9})?(?:[-\d'\"(*]|null\b|true\b|false\b|\w{1,40}\s{0,3}\()",
    re.IGNORECASE,
)
_ONE_NAME = re.compile(r"select\s{1,9}\w{1,40}", re.IGNORECASE)
_NESTED = re.compile(r"\([^()]{0,2000}\)|'[^']{0,2000}'|\"[^\"]{0,2000}\"")
_CUT_OFF = compile_caseless(
    r"(?:[,=<>+*/(|-]|\b(?:select|from|where|and|or|on|by|join|in|as|with|having|group|order|limit|between"
    r"|like|not|is|union|distinct|left|inner|case|when|then|else|over|values|set|into))\s*\Z",
)
_QUOTE_END = re.compile(r"'(?=\s*(?:\Z|[,)};\n]|\.\s))")
_STATEMENT = re.compile(
    r"(?:[^;'\"`\[/-]|'[^']*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/|[-/])*+;", re.DOTALL
)

# An answer of one line with a single statement, as most are.
_WHOLE = re.compile(r"\s*select\s[^;`\n\"]+;\s*", re.IGNORECASE)
_SENTENCE_WORD = re.compile(
    r"\s(?:which|that|because|since|whereas|please|returns|could|might)\s|\sis\sthe\s|:\s|--",
    re.IGNORECASE,
)

_ENTITY = re.compile(r"&(?:lt|gt|amp);")

# --- Fields

_KEY = re.compile(
    r"(?:final[ _]?|generated[ _]?|corrected[ _]?)?(?:sql|sqlite|query|answer|statement|output"
    r"|result|response|code|completion)(?:[ _]?(?:sql|query|statement|code|string))?",
    re.IGNORECASE,
)
_NO_VALUE = re.compile(r"(?:null|none|false|n/a)\b", re.IGNORECASE)
_ANSWERABLE_KEY = re.compile(
    r"(?P<not>un)?answerable|is[ _]?(?P<not2>un|im)?(?:answerable|possible)|can[ _]be[ _]answered",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(r"(?:true|yes|(?P<no>false|no))\b", re.IGNORECASE)

# --- Decision

_REJECTED = compile_caseless(
    r"\b(?:don't|do\snot|never|not|avoid|wouldn't|shouldn't)\s(?:\w{1,12}\s){0,3}?(?:us(?:e|ing)|write|run"
    r"|recommend|choose|want)\b|\b(?:wrong|incorrect|naive|faulty|broken|bad|rejected"
    r"|discarded)\b(?:\s\w{1,20}){0,3}\W*\Z"
    r"|\b(?:instead\sof|rather\sthan|unlike|as\sopposed\sto|replaces)\b[^.\n]{0,40}\Z",
)
_FAULTED = re.compile(
    r"\A[\s.,`;)*]*(?:\w{1,20}[,:]?\s){0,3}?(?:this|that|it|the\s(?:query|above|first"
    r"|attempt)(?:\s\w{1,12})?)\s?(?:is\snot|isn't|is|was|would|will|won't|does\snot|doesn't|ignores|fails"
    r"|misses|lacks|forgets|returns|counts)?\s?(?:be\s|quite\s|exactly\s|the\s)?"
    r"(?:right|wrong|incorrect|correct\syet|work\b|fail|ignores|misses|enough|too\s|not\s|missing|answer\b"
    r"|filter\b|consider\b|account\b|handle\b|what\b)"
    r"|\A[\s`]*is\s(?:wrong|worse|incorrect|not\s(?:right|correct))\b",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"\b(?:final(?:ly)?|corrected|correct|revised|improved|updated|complete|full|recommend\w{0,3}|better|best"
    r"|fixed|answer|putting|combin\w{1,4}|altogether|therefore|thus|so\sthe|prefer(?:red)?|choose|settle"
    r"|go\swith|use\sthis)\b",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(
    r"\b(?:alternative(?:ly|s)?|either|another\s(?:way|option|version|approach|query|possibility)"
    r"|other\s(?:option|version|way|approach)|second\s(?:option|version|way|approach|reading|interpretation)"
    r"|option\s(?:2|b|two)|if\syou\s(?:want|prefer|mean|need|instead)"
    r"|you\s(?:could|can|may|might)\salso|or(?:,)?\s(?:if|with|using|as|equivalently|simply|this|maybe"
    r"|perhaps)|version\s(?:2|b|two)|interpretation\s(?:2|b|two))\b|\b(?:query|option|version|variant"
    r"|possibility|interpretation|alternative)\s(?:b|2|two|ii)\b|\(b\)\W*\Z|\bif\b[^.\n]{2,80}[,:]\s*(?:use"
    r"|try|run"
    r"|you|then|it|the|\Z)|\bto\s[^.\n]{3,60}\sinstead\W*\Z|(?:^|\n)\s*or\b\W{0,4}\s*\Z",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:do|did)\syou\s(?:mean|want|need|have)\b[^.!\n]{0,120}\?|\bboth\s(?:queries\s|versions\s|options\s"
    r"|of\sthem\s)?(?:are|work|would)\b|"
    r"\b(?:which|what)\b[^.!\n]{0,120}\?|\b(?:let\sme\sknow|tell\sme)\s(?:which|what)\b|\bdepend(?:s"
    r"|ing)\son\b|\bnot\ssure\swhich\b|\bpick\s(?:one|whichever)\b|\bwhichever\b",
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
_ALTERNATIVE_NEXT = re.compile(
    r"\s*or\b\W{0,4}\s*(?:```\w{0,10}\s*)?(?:select|with)\b", re.IGNORECASE
)
_IMAGINED = re.compile(
    r"\b(?:if|would|could|were|had|example|hypothetical\w{0,2}|suppose|assuming)\b", re.IGNORECASE
)
_FENCE_MARK = re.compile(r"```\w*")
_RETRACTION = re.compile(
    r"\b(?:(?:do\snot|don't)\suse\s(?:it|this|that)|(?:please\s)?(?:ignore|disregard)\s(?:it|this|that"
    r"|the\s(?:above|query)|my)|scratch\sthat|(?:this|that|it)\s(?:is\snot|isn't|is|was)\s(?:right"
    r"|correct(?=\W*\Z)|wrong|incorrect)(?<!is right)(?<!is correct)"
    r"|take\s(?:it|that|this)\sback|on\ssecond\sthought|need\sto\sthink|have\sto\sthink)\b",
    re.IGNORECASE,
)

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
    r"|not\sanswerable|nothing\sto\squery|answerable\W{1,4}(?:no|false)|beyond\sthe\s(?:scope|schema)"
    r"|not\ssupported\sby\s(?:the|this)\s(?:schema|database|data|tables)"
    r"|nicht\s(?:\w{1,20}\s){0,4}(?:beantworte\w{1,4}|möglich)|no\s(?:se\spuede|es\sposible"
    r"|puede\sser)\s(?:responde\w{1,4}|contesta\w{1,4})|ne\speut\spas\s(?:être\s)?répond\w{1,4}"
    r"|non\s(?:si\spuò|è\spossibile|può)\s(?:essere\s)?rispon?[ds]\w{1,5}|não\s(?:pode\sser"
    r"|é\spossível)\srespond\w{1,4})\b|无法回答|無法回答|回答できません|답할 수 없",
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
_GOES_ON = re.compile(
    r"\b(?:but|however|although|though|instead|approximat\w{1,5}|assum\w{1,5}|would|could|if)\b",
    re.IGNORECASE,
)
_MAX_REASON = 300  # characters
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


def find_query(answer: str) -> str | None:
    """Return the query in an answer, "" if the answer abstains, None if it is unread."""
    query = _find(answer)
    return None if query is None else query.text


def read_query(answer: str) -> Reading | None:
    """Return the query of `find_query` and where the answer states it; the value is "" if the answer abstains."""
    query = _find(answer)
    return None if query is None else Reading(query.text, query.start, query.end, query.rule)


def _find(answer: str) -> _Query | None:
    if len(answer) > _MAX_LENGTH:
        answer = answer[:_MAX_LENGTH]
    if _WHOLE.fullmatch(answer) and not _SENTENCE_WORD.search(answer) and _is_query(answer):
        start = len(answer) - len(answer.lstrip())
        query = answer.strip()
        return _Query(query, start, start + len(query), "whole answer")
    fields = _find_in_fields(answer)
    if fields is not None:
        return fields if fields.rule else None
    queries = _list_queries(answer)
    if not queries:
        return _find_abstention(answer)
    return _choose(answer, _drop_queries_of_other_questions(answer, queries))


# --- Fields -----------------------------------------------------------------------------------------------------------

_UNREAD = _Query("", 0, 0, "")


def _find_in_fields(answer: str) -> _Query | None:
    """Return the query of a JSON object, _UNREAD if its fields contradict each other, None if there is none."""
    if ":" not in answer:
        return None
    try:
        members = find_members(answer)
    except EndlessTextError:
        return _UNREAD
    fields: list[tuple[str, _Query]] = []
    for member in members:
        query = _read_field(member)
        if query is _UNREAD:
            return _UNREAD
        if query is not None:
            fields.append((member.key.lower(), query))
    denial = _find_denial(members)
    if denial is not None:
        return _UNREAD if any(query.text for _, query in fields) else denial
    return _choose_field(fields) if fields else None


def _read_field(member: JsonMember) -> _Query | None:
    """Return the query in the value of a field, or the abstention if it is null.

    The result is _UNREAD if the value is cut off, and None if the field holds something else.
    """
    if not member.is_quoted or not _KEY.fullmatch(member.key):
        return None
    value = member.value
    if isinstance(value, JsonList) and value.elements:
        value = value.elements[0]
    if not isinstance(value, JsonScalar) or value.has_swallowed_member:
        return None
    if not value.quote:
        return _abstain_in(member, value) if _NO_VALUE.match(value.raw) else None
    text = value.text if value.is_closed else _complete(value.text)
    if text is None:
        return _UNREAD
    text = _strip_marks(text)
    if _is_nothing(text):
        return _abstain_in(member, value)
    if not _is_query(text):
        return None
    return _Query(_drop_words_after(text), value.outer_start, value.outer_end, "JSON field")


def _abstain_in(member: JsonMember, value: JsonScalar) -> _Query:
    """Return the abstention that a key with its value states."""
    return _Query("", member.start - 1, value.outer_end, "JSON field")


def _find_denial(members: Sequence[JsonMember]) -> _Query | None:
    """Return the first field that says whether the question can be answered, if it denies it."""
    for member in members:
        key = _ANSWERABLE_KEY.fullmatch(member.key)
        value = member.value
        if key is None or not isinstance(value, JsonScalar):
            continue
        reply = _YES_OR_NO.match(value.raw)
        if reply is None:
            continue
        asks_opposite = (key["not"] or key["not2"]) is not None
        if (reply["no"] is not None) == asks_opposite:
            return None
        start = member.start - 1 if member.is_quoted else member.start
        return _Query("", start, value.start + reply.end(), "JSON field")
    return None


def _choose_field(fields: list[tuple[str, _Query]]) -> _Query:
    """Return the query of the field that is called final, else of the only one; _UNREAD if they differ."""
    if len(fields) == 1:
        return fields[0][1]
    final = [query for key, query in fields if key.startswith(("final", "corrected"))]
    stated = [query for _, query in fields if query.text]
    chosen = final or stated or [query for _, query in fields]
    is_single = len({_fold(query.text) for query in chosen}) == 1
    return chosen[-1] if is_single else _UNREAD


def _complete(text: str) -> str | None:
    """Return a text that has no closing mark up to its semicolon, or None if it is cut off before."""
    statement = _STATEMENT.match(text)
    return statement[0] if statement else None


# --- Queries in the text ----------------------------------------------------------------------------------------------


def _list_queries(answer: str) -> list[_Query]:
    """Return the queries of an answer, in order of appearance; those in code, if there are any."""
    masked = answer
    if "~~" in masked:
        masked = _STRUCK.sub(lambda match: " " * len(match[0]), masked)
    in_code: list[_Query] = []
    for pattern in (_FENCE, _BACKTICKS):
        if "`" not in masked:
            break
        for match in pattern.finditer(masked):
            in_code += _list_in_code(answer, *match.span(1), is_closed=match.end() > match.end(1))
        masked = pattern.sub(lambda match: " " * len(match[0]), masked)
        if any(_FROM.search(query.text) or not query.text for query in in_code):
            return _drop_fragments(in_code)
    if "&" in masked:
        masked = _ENTITY.sub(lambda match: html.unescape(match[0]).rjust(len(match[0])), masked)
    has_elements = "<" in masked and _ELEMENT_MARK.search(masked) is not None
    if has_elements:
        masked = _ELEMENT_MARK.sub(lambda match: "\n\n" + " " * (len(match[0]) - 2), masked)
    queries = list(_iter_statements(masked, 0, len(masked), "query in text", is_closed=False))
    if in_code:
        return _drop_fragments([*in_code, *queries])
    queries = _drop_fragments(queries)
    whole = answer.strip()
    if (
        len(queries) == 1
        and whole.startswith(queries[0].text[:50])
        and len(whole) - len(queries[0].text) < 3
    ):
        return [_Query(queries[0].text, queries[0].start, queries[0].end, "whole answer")]
    return queries


def _drop_fragments(queries: list[_Query]) -> list[_Query]:
    """Return the queries without the parts that an explanation names: "SELECT COUNT(*)", a subquery of another one."""
    queries = queries[-_MAX_QUERIES:]
    whole = [query for query in queries if _FROM.search(query.text) or not query.text] or queries
    folded = [_fold(query.text) for query in whole]
    kept = [
        query
        for query, text in zip(whole, folded, strict=True)
        if not any(text != other and f"({text})" in other for other in folded)
    ]
    return sorted(kept or whole, key=lambda query: query.start)


def _list_in_code(answer: str, start: int, end: int, *, is_closed: bool) -> list[_Query]:
    """Return the query that a piece of code is, or the queries in the strings of a program."""
    while mark := _PROMPT_MARK.match(answer, start, end):
        start = mark.end()
    text = answer[start:end]
    stripped = text.strip()
    if not stripped:
        return []
    begin = start + text.index(stripped)
    if stripped.startswith(("--", "/*", "(")) or _START.match(stripped):
        if not _COMMENT.sub("", stripped).strip(" \t\n;"):
            return [_Query("", begin, begin + len(stripped), ABSTENTION)]
        if _is_query(stripped) and (is_closed or not _is_cut_off(stripped)):
            query = _drop_words_after(stripped)
            return [_Query(query, begin, begin + len(query), "code")]
        return []
    return list(_iter_statements(answer, start, end, "code", is_closed=is_closed))


def _iter_statements(
    text: str, start: int, end: int, rule: str, *, is_closed: bool
) -> Iterator[_Query]:
    """Yield the queries in a part of a text; statements that follow each other directly are one query."""
    position = start
    for _ in range(_MAX_QUERIES):
        match = _find_start(text, position, end)
        if match is None:
            return
        begin = match.start() + len(match[0]) - len(match[0].lstrip())
        stop = _find_statement_end(text, begin, end)
        # A second statement makes a query invalid, and is kept for that reason.
        while following := _match_start(text, stop, end):
            stop = _find_statement_end(text, following, end)
        query = text[begin:stop].rstrip()
        position = max(stop, match.end())
        comments_after = _COMMENTS_AFTER.match(text, position, end) if query[-1:] == ";" else None
        position = comments_after.end() if comments_after else position
        if not _is_query(query):
            position = match.end()
            continue
        comments = _LINE_COMMENTS.search(text, max(start, begin - 2000), begin)
        if comments and text[: comments.start()].rstrip(" \t").endswith(("\n", "")):
            begin = comments.start() + len(comments[0]) - len(comments[0].lstrip())
            query = text[begin:stop].rstrip()
        if not query.endswith(";"):
            query = _strip_end(query)
        is_at_end = not text[stop:end].strip() and not is_closed
        if is_at_end and _is_cut_off(query):
            continue
        yield _Query(query, begin, begin + len(query), rule)


def _strip_end(query: str) -> str:
    """Return a query without the marks around it; a quotation mark that ends a name or text belongs to it."""
    stripped = query.rstrip(' .,`*_|"}$')
    mark = query[len(stripped) : len(stripped) + 1]
    return stripped + mark if mark in ('"', "`") and stripped.count(mark) % 2 else stripped


def _find_start(text: str, position: int, end: int) -> re.Match[str] | None:
    """Return the next beginning of a query that is no word of a sentence."""
    while match := _START.search(text, position, end):
        if not _NOT_A_QUERY.match(text, match.start() + len(match[0]) - len(match[0].lstrip())):
            return match
        position = match.end()
    return None


def _match_start(text: str, position: int, end: int) -> int | None:
    """Return where a statement begins directly at a position, after white space."""
    if position == 0 or text[position - 1] != ";":
        return None
    begin = position
    while begin < end and text[begin].isspace():
        begin += 1
    if "\n\n" in text[position:begin]:
        return None
    match = _NEXT_STATEMENT.match(text, begin, end)
    return begin if match and not _NOT_A_QUERY.match(text, begin) else None


def _find_statement_end(text: str, start: int, end: int) -> int:
    """Return the position after the statement that begins at `start`."""
    opening = text[max(0, start - 3) : start]
    for mark in ('"""', "'''"):
        if opening == mark:
            closing = text.find(mark, start, end)
            return closing if closing >= 0 else end
    if opening.endswith('"'):
        closing = text.find('"', start, end)
        end = closing if closing >= 0 else end
    elif opening.endswith("'"):
        quote = _QUOTE_END.search(text, start, end)
        end = quote.start() if quote else end
    depth = 0
    position = start
    while piece := _PIECE.search(text, position, end):
        mark = piece[0]
        position = piece.end()
        if mark == ";":
            if depth <= 0:
                return piece.end()
        elif mark == "(":
            depth += 1
        elif mark == ")":
            depth -= 1
            if depth < 0:
                return piece.start()
        elif mark[0] == "\n":
            is_blank = mark.count("\n") > 1
            is_open = depth > 0 or text[piece.start() - 1] in ",(="
            if is_blank and not is_open and not _CONTINUES.match(text, piece.end(), end):
                return piece.start()
            if not is_open and _ALTERNATIVE_NEXT.match(text, piece.end(), end):
                return piece.start()
            if _PROSE_LINE.match(text, piece.end(), end) and depth <= 0:
                return piece.start()
        elif mark in "'\"":
            return end
        elif (mark[0].isspace() or mark == ".") and depth <= 0:
            return piece.start()
    return end


def _is_query(text: str) -> bool:
    """Return whether a text that begins with a keyword of SQL is a query, and no sentence: "select the rows that"."""
    bare = _COMMENT.sub(" ", text[:6000]).strip(" \t\n(;")
    match = _START.match(bare)
    if match is None:
        return False
    if bare[:6].lower() != "select":
        return True
    if _NOT_A_QUERY.match(bare):
        return False
    from_ = _FROM.search(bare)
    if from_ is None:
        return _CONSTANT.match(bare) is not None or _ONE_NAME.fullmatch(bare) is not None
    head = bare[6 : from_.start()]
    for _ in range(3):
        head = _NESTED.sub("x", head)
    return not _PROSE_RUN.search(head) and not _FROM_PROSE.match(bare, from_.start())


def _is_cut_off(query: str) -> bool:
    """Return whether a query ends before it is complete, as at a limit of tokens."""
    if query.endswith(";"):
        return False
    depth = 0
    for piece in _PIECE.finditer(query):
        if piece[0] in ("'", '"'):
            return True
        depth += (piece[0] == "(") - (piece[0] == ")")
    return depth > 0 or _CUT_OFF.search(query) is not None


def _drop_words_after(text: str) -> str:
    """Return the first statement without the words after it, or the whole text if another statement follows."""
    first = _STATEMENT.match(text)
    if first is None:
        return (
            text[: _find_statement_end(text, 0, len(text))].rstrip() if _START.match(text) else text
        )
    words = _COMMENT.sub("", text[first.end() :])
    if not words.strip():
        return first[0]
    if any(_is_query(words[match.start() :].strip()) for match in _START.finditer(words[:5000])):
        return text
    return first[0]


def _strip_marks(text: str) -> str:
    text = text.strip()
    fence = _FENCE.fullmatch(text)
    text = fence[1].strip() if fence else text
    mark = _PROMPT_MARK.match(text)
    return text[mark.end() :].strip() if mark else text


# --- The decision -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Offer:
    """A query with the text around it, which says whether it is meant.

    Attributes:
        query: the query.
        before: the end of the text between the previous query and this one, without the marks of code.
        after: the beginning of the text between this query and the next one, without the marks of code.
    """

    query: _Query
    before: str
    after: str

    @property
    def is_rejected(self) -> bool:
        """Whether the text before it warns of it, or the text after it finds fault with it."""
        introduction = _get_last_paragraph(self.before)
        return bool(_REJECTED.search(introduction) or _FAULTED.match(self.after))

    @property
    def is_final(self) -> bool:
        """Whether the text before it calls it final, corrected or the best."""
        return _FINAL.search(_get_last_paragraph(self.before)) is not None

    @property
    def is_alternative(self) -> bool:
        """Whether the text before it offers it as one of several."""
        return _ALTERNATIVE.search(self.before) is not None


def _choose(answer: str, queries: list[_Query]) -> _Query | None:
    """Return the query that an answer means, or None if it offers several or takes it back."""
    opening, rest = answer[: queries[0].start], answer[queries[-1].end :]
    offers = [offer for offer in _list_offers(answer, queries) if not offer.is_rejected]
    if not offers and not rest.strip():
        return None
    if not offers or _states_null_at_end(rest):
        return _find_abstention(rest, offset=queries[-1].end)
    if _LEADING_NULL.match(opening):
        # The query after "null" is what would answer another question, or contradicts it.
        return _find_abstention(opening) if _IMAGINED.search(opening) else None
    if _RETRACTION.search(rest[:_NEAR_END]) or _OR_NULL.search(rest[:_NEAR_END]):
        return None
    if len({_fold(offer.query.text) for offer in offers}) == 1:
        return offers[0].query
    if _asks_which(opening, rest):
        return None
    return _find_chosen_by_head(answer, queries) or _choose_offer(offers)


def _list_offers(answer: str, queries: list[_Query]) -> Iterator[_Offer]:
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


def _choose_offer(offers: list[_Offer]) -> _Query | None:
    """Return the only query that is called final, or the last one; None if there are alternatives."""
    last = offers[-1]
    final = [offer for offer in offers if offer.is_final]
    if final and (final[-1] is last or len(final) == 1):
        return final[-1].query
    return None if any(offer.is_alternative for offer in offers) else last.query


def _find_chosen_by_head(answer: str, queries: list[_Query]) -> _Query | None:
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


def _drop_queries_of_other_questions(answer: str, queries: list[_Query]) -> list[_Query]:
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


def _fold(query: str) -> str:
    return " ".join(query.lower().rstrip("; \n").split())


# --- Abstentions ------------------------------------------------------------------------------------------------------


def _find_abstention(answer: str, offset: int = 0) -> _Query | None:
    """Return the abstention of an answer without a query, or None if it does not abstain."""
    is_comment = answer.lstrip().startswith(("--", "/*")) and not _COMMENT.sub("", answer).strip(
        " \t\n;"
    )
    if is_comment or _EMPTY_ELEMENT.fullmatch(answer) or _is_nothing(answer):
        return _Query("", offset, offset + len(answer), ABSTENTION)
    text = answer.replace("`", " ") if "```" in answer else answer
    stated = list(_STATES_NULL.finditer(text))
    for match in reversed(stated):
        clause = re.split(r"[.,;!?\n]", text[: match.start()])[-1]
        if not re.search(
            r"\b(?:not|isn't|never|if|whether|unless)\b",
            clause + match[0][: -len("null")],
            re.IGNORECASE,
        ):
            return _Query("", offset + match.start(), offset + match.end(), ABSTENTION)
    if _REQUEST.search(text) or _PRIVATE.search(text):
        return None
    stated_reason = _UNANSWERABLE.search(text)
    if stated_reason is None:
        refusal = _NO_QUERY.search(text)
        stated_reason = refusal if refusal and _LACKS.search(text) else None
    if stated_reason is None and len(text) <= _MAX_REASON and not _GOES_ON.search(text):
        stated_reason = _TABLES_LACK.search(text)
    if stated_reason is None:
        return None
    return _Query("", offset + stated_reason.start(), offset + stated_reason.end(), ABSTENTION)


def _is_nothing(text: str) -> bool:
    """Return whether a text is only a word for "no query": null, None, N/A, an empty string."""
    if len(text) > 200:
        return False
    if text.strip() in ("''", '""', ";") or not text.strip():
        return True
    if text.lstrip().startswith("```") and not re.sub(r"```\w*", "", text).strip():
        return False
    text = re.sub(r"\\boxed|\\text|</?\w+>|```\w*", " ", text)
    text = re.sub(
        r"\A\W*(?:final\s)?(?:answer|output|result|sql|query|sql\squery)\s?(?:is|:)\s?",
        "",
        text,
        flags=re.IGNORECASE,
    )
    word = text.strip(" \t\n'\"`.;:!()<>[]{}*_$\\")
    return _ABSTAINS.fullmatch(word) is not None
