"""The syntax of SQL in prose: where a statement begins and ends, whether it is complete, and that it is no sentence."""

import re

from agent.reading.caseless import compile_caseless

COMMENT = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
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
_BEGINS_COMMENT = re.compile(r"[ \t]*--(?!-)")
# In a sentence, only reading statements are looked for: "Update the table set out above".
START = re.compile(
    rf"{_READS}|(?:^|(?<=['\"`]))[ \t]{{0,20}}{_WRITES}", re.IGNORECASE | re.MULTILINE
)
_NEXT_STATEMENT = re.compile(rf"{_READS}|{_WRITES}", re.IGNORECASE)
# No query has these words outside of its texts.
PROSE_WORD = (
    r"(?:which|that|because|since|whereas|please|returns|gets|gives|finds|fetches|retrieves|would|will|should|could"
    r"|might|seems|but|instead|rather|(?:and|or),|(?:and|or)(?=\sif\s)|not(?=\s(?i:select)\s)"
    r"|is(?=\s(?:the|my|your|what|correct|right|wrong|better|worse)\b))(?=\s)"
)
# Every alternative begins with a literal character, so that the engine of `re` passes over most positions.
_QUOTED_OR_COMMENT = r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\[[^\[\]\n]{0,200}\]|--[^\n]*|/\*.*?\*/"
_PIECE = re.compile(
    rf"{_QUOTED_OR_COMMENT}|\(|\)|;|'|\"|\n[ \t]*\n\s*|\n|\ {PROSE_WORD}|\t{PROSE_WORD}|\.(?=\s)",
    re.DOTALL,
)
_MARK = re.compile(rf"{_QUOTED_OR_COMMENT}|\(|\)|'|\"", re.DOTALL)
_CONTINUES = re.compile(
    r"\s*(?:from|where|group|order|limit|union|intersect|except|and|or|join|left|inner|outer|cross|natural"
    r"|having|on|select|offset|window|case|when|end|\)|\(|,|--|/\*)",
    re.IGNORECASE,
)
# A line that begins like a sentence or a field: "This query counts ...", "Note that ...", "answerable: true".
_PROSE_LINE = re.compile(
    r"[ \t]{0,20}[a-zA-Z]\w{0,30}(?:[ ]\w{1,20})?[ ]?:[ \t\n]"
    r"|[ \t]{0,20}(?:#|\*\*|- {1,9}(?![ (\n])|\d\. |>|~|\||={3}|-{3})"
    r"|[ \t]{0,20}(?:This|These|That|The|It|Note|Explanation|Here|I|In|Let|Hope|Please|Self-check|Question|Answer"
    r"|Where|We|You|If|Alternatively|Or|Also"
    r"|Since|Because|Assum\w{1,4}|Reason\w{0,4}|Confidence|Tables?|Output|Result|SQL|However|Wait|Hmm|Actually"
    r"|First|Then|To|A|An|As|For|Some|My|Thought)\b(?:[ ,:]|'[a-z])"
    r"|[ \t]{0,20}(?:Right|Wrong|Correct(?:ed)?|Better|Final|Fixed|Revised|Option|Version|Query)\b[^\n,()'\"]{0,20}:",
)
_ALTERNATIVE_NEXT = re.compile(
    r"\s*or\b\W{0,4}\s*(?:```\w{0,10}\s*)?(?:select|with)\b", re.IGNORECASE
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
FROM = re.compile(r"\bfrom\b", re.IGNORECASE)
_CONSTANT = re.compile(
    r"select\s{1,9}(?:distinct\s{1,9})?(?:[-\d'\"(*]|null\b|true\b|false\b|\w{1,40}\s{0,3}\()",
    re.IGNORECASE,
)
_ONE_NAME = re.compile(r"select\s{1,9}\w{1,40}", re.IGNORECASE)
_MAX_NESTING = 3  # of parentheses before FROM
_NESTED = re.compile(r"\([^()]{0,2000}\)|'[^']{0,2000}'|\"[^\"]{0,2000}\"")
_CUT_OFF = compile_caseless(
    r"(?:[,=<>+*/(|-]|\b(?:select|from|where|and|or|on|by|join|in|as|with|having|group|order|limit|between"
    r"|like|not|is|union|distinct|left|inner|case|when|then|else|over|values|set|into))\s*\Z",
)
_QUOTE_END = re.compile(r"'(?=\s*(?:\Z|[,)};\n]|\.\s))")
_WORD_OR_MARK = re.compile(rf"{_QUOTED_OR_COMMENT}|\w+|[^\w\s]", re.DOTALL)
# What may stand before the SELECT of a part of the same query. A common table expression ends with a parenthesis.
_JOINS_STATEMENTS = frozenset({"union", "all", "intersect", "except", "as", "(", ")", ";"})
_STATEMENT = re.compile(
    r"(?:[^;'\"`\[/-]|'[^']*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/|[-/])*+;", re.DOTALL
)


def is_query(text: str) -> bool:
    """Return whether a text that begins with a keyword of SQL is a query, and no sentence: "select the rows that"."""
    bare = text[:6000]
    if "--" in bare or "/*" in bare:
        bare = COMMENT.sub(" ", bare)
    bare = bare.strip(" \t\n(;")
    match = START.match(bare)
    if match is None:
        return False
    if bare[:6].lower() != "select":
        return True
    if _NOT_A_QUERY.match(bare):
        return False
    from_ = FROM.search(bare)
    if from_ is None:
        return _CONSTANT.match(bare) is not None or _ONE_NAME.fullmatch(bare) is not None
    head = bare[6 : from_.start()]
    for _ in range(_MAX_NESTING):
        if "(" in head or "'" in head or '"' in head:
            head = _NESTED.sub("x", head)
    return not _PROSE_RUN.search(head) and not _FROM_PROSE.match(bare, from_.start())


def is_cut_off(query: str) -> bool:
    """Return whether a query ends before it is complete, as at a limit of tokens."""
    if query.endswith(";"):
        return False
    depth = 0
    for piece in _MARK.finditer(query):
        if piece[0] in ("'", '"'):
            return True
        depth += (piece[0] == "(") - (piece[0] == ")")
    return depth > 0 or _CUT_OFF.search(query) is not None


def find_start(text: str, position: int, end: int) -> re.Match[str] | None:
    """Return the next beginning of a query that is no word of a sentence."""
    while match := START.search(text, position, end):
        begin = match.start() + len(match[0]) - len(match[0].lstrip())
        comment_end = _find_comment_end(text, begin, end)
        if comment_end is None and not _NOT_A_QUERY.match(text, begin):
            return match
        position = comment_end or match.end()
    return None


def _find_comment_end(text: str, position: int, end: int) -> int | None:
    """Return the end of the comment of SQL that contains a position, or None if the position is in no comment."""
    opening = text.rfind("/*", 0, position)
    if opening >= 0 and text.find("*/", opening, position) < 0:
        closing = text.find("*/", position, end)
        return closing + len("*/") if closing >= 0 else None
    line_start = text.rfind("\n", 0, position) + 1
    if not _BEGINS_COMMENT.match(text, line_start, position):
        return None
    line_end = text.find("\n", position, end)
    return line_end if line_end >= 0 else end


def match_next_start(text: str, position: int, end: int) -> int | None:
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


def find_statement_end(text: str, start: int, end: int) -> int:
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


def holds_other_statement(query: str) -> bool:
    """Return whether a query is followed by another one without a semicolon: "SELECT a FROM b SELECT c FROM d".

    Between the parts of one query stands a word such as UNION, or a parenthesis. Statements with a semicolon between
    them are kept together, and make the whole invalid, as in the dataset's own evaluation.
    """
    depth = selects = 0
    joins = True
    for word in _WORD_OR_MARK.finditer(query):
        mark = word[0].lower()
        if mark.startswith(("--", "/*")):
            continue
        if mark == "select" and depth == 0:
            if selects and not joins:
                return True
            selects += 1
        depth += (mark == "(") - (mark == ")")
        joins = mark in _JOINS_STATEMENTS
    return False


def drop_words_after(text: str) -> str:
    """Return the first statement without the words after it, or the whole text if another statement follows."""
    first = _STATEMENT.match(text)
    if first is None:
        return (
            text[: find_statement_end(text, 0, len(text))].rstrip() if START.match(text) else text
        )
    words = COMMENT.sub("", text[first.end() :])
    if not words.strip():
        return first[0]
    if any(is_query(words[match.start() :].strip()) for match in START.finditer(words[:5000])):
        return text
    return first[0]


def complete(text: str) -> str | None:
    """Return a text that has no closing mark up to its semicolon, or None if it is cut off before."""
    statement = _STATEMENT.match(text)
    return statement[0] if statement else None
