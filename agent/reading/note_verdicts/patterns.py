"""The wordings by which answers call a note correct or one of its sentences wrong. Pure data.

Every repetition is bounded, so that hostile text takes no longer than any other text of its length.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from agent.reading.caseless import CaselessPattern, compile_caseless, lower


@dataclass(frozen=True, slots=True)
class VerdictPattern:
    """A statement about a note. The pattern is tried where any of the words in `needs` occurs, both in lower case."""

    needs: tuple[str, ...]
    pattern: re.Pattern[str]


def find_statements(
    statements: Iterable[VerdictPattern], text: str, limit: int | None = None
) -> Iterator[re.Match[str]]:
    """Yield the statements in a text, with the positions of the text and groups in lower case.

    Args:
        statements: the statements to find.
        text: the text.
        limit: the number of places at which each statement is found at most.
    """
    lowered = lower(text)
    for statement in statements:
        for word in statement.needs:
            if word in lowered:
                yield from islice(statement.pattern.finditer(lowered), limit)
                break


def _build_statement(needs: str, pattern: str) -> VerdictPattern:
    return _join(needs, compile_caseless(pattern))


def _join(needs: str, pattern: CaselessPattern) -> VerdictPattern:
    return VerdictPattern(tuple(needs.split("|")), pattern.lowered)


# Marks that carry no meaning here are replaced by spaces, so that positions stay the same.
FLAT = str.maketrans(dict.fromkeys('"*`_#[]({}<>|$•\ufe0f\u20e3─│┃═║┌┐└┘╔╗╚╝├┤╠╣', " "))

SENTENCE_WORD = (
    r"(?:sent[ea]n[cs]es?|lines?|statements?|sent\.|items?|satz|zeile|frase|oraci[oó]n|l[ií]nea|phrase|ligne|riga"
    r"|zin|mening"
    r"|zdanie|предложени[еия]|строк[аеи])"
)
NOT_AFTER = r"(?![\w/%]|[.,]\d|-\w)"
NUMBER = rf"(?:(?:ids?|numbers?|no\.?|nr\.?)\s{{0,2}})?[:=]?\s{{0,2}}'?(\d{{1,4}}){NOT_AFTER}"
REFERENCE = rf"\b(?:{SENTENCE_WORD}|ids?|number(?:ed)?(?!s))\s{{0,2}}{NUMBER}"
# "2 sentences", "1 error", "7 days ago": a count. Lower case, because a sentence begins with a capital.
COUNT = re.compile(
    r"\s{0,3}(?:%|(?:(?:potential|possible|medical|clinical|factual)\s)?(?:sentences?|errors?|mistakes?"
    r"|issues?|problems?"
    r"|inaccuracy|inaccuracies|inconsistency|inconsistencies)\b|(?:seconds?|minutes?|hours?|days?|weeks?"
    r"|months?|years?"
    r"|mg|mcg|g|kg|m[Ll]|L|units?|tablets?|times|cm|mm|percent|patients?|out\sof|of\sthe(?!\s(?:note|text|vignette|case|record)\b))\b)"
)
SEVERAL = re.compile(
    rf"\s{{0,2}}(?:,|&|-|/|\band\b|\bor\b"
    rf"|\bto\b)\s{{0,2}}(?:(?:possibly|perhaps|maybe|also|in)\s){{0,2}}(?:{SENTENCE_WORD}\s)?\d{{1,4}}{NOT_AFTER}(?!\s?(?:mg|mm|cm|g|%|m[lL])\b)",
    re.IGNORECASE,
)
# "1. 2. 3. 4.": the numbers of a list without its items, behind the first of them.
ONLY_NUMBERS = re.compile(r"(?:\d{1,4}[.):,;]{0,2}\s{0,3}){1,400}")
LABEL = (
    r"(?:(?:so|thus|therefore|hence|then|and|in\sconclusion|overall)\b,?\s{0,2})?(?:(?:my|the"
    r"|our)\s{1,2})?(?:(?:final|correct|overall)\s{1,2})?"
    r"(?:answer|verdict|output|result|response|conclusion|decision|assessment|judge?ment|determination|final(?=\s?:)"
    r"|diagnosis\sof\sthe\snote"
    r"|respuesta|risposta|antwort|r[eé]ponse|resposta|svar|odpowied[zź]|cevap)"
    r"(?:\s{1,2}(?:here|to\sthis|for\sthis\s\w{1,10}))?(?:\s{1,2}(?:is|would\sbe|will\sbe|remains|ist|es|est"
    r"|è))?(?:\s{1,2}that)?\s{0,2}[:=>→➜➡,-]{0,2}\s{0,12}"
)
CORRECT_IN_CAPITALS = (
    r"CORR?ECT(?![\w-])(?!\s{1,2}(?:the|this|it|to|or|if|unless|sentence|line|answer|SENTENCE|ANSWER|VERSION"
    r"|TEXT|dose)\b)(?!:)(?!\s{0,3}/|\s{1,3}INCORRECT)"
)
CORRECT_WORD = (
    r"(?i:corr?r?e?c?t|all\s(?:is\s)?(?:correct|fine|good)|(?:it\s)?looks?\s(?:correct|fine|good|right)(?:\sto\sme)?"
    r"|(?:i'd\ssay\s)?it(?:'s|s|\sis)\scorrect|all\s(?:clear|good)|(?:the\s)?note(?:'s|\sis)\s(?:correct|fine|ok|okay|accurate)|correcto|korrekt|corretto|correcte|richtig|poprawn[ya]"
    r"|no\s(?:\w{1,12}\s)?(?:errors?|issues?|mistakes?|problems?|inaccuracies|corrections?"
    r"|changes|(?:altered|wrong|incorrect)\s(?:sentences?|lines?))(?:\s(?:found|detected|identified|needed|required))?|error[\s-]free)"
)
EXCEPTION = re.compile(
    r"\b(?:except|apart|aside|other\sthan|besides|save\sfor|but|however|although|though|only|if|unless|mostly"
    r"|not|until|up\sto|assuming|provided|pending|almost|nearly|so\sfar)\b",
    re.IGNORECASE,
)
HARMLESS = re.compile(
    r"\b(?:but|however|although|though)\b[^.!?\n]{0,80}\b(?:nothing|no|not\san?|i(?:'m| am)\snot|isn't|aren't"
    r"|don't|fine|acceptable|correct|minor|plausible|an?\s(?:bit|little)\s(?:odd|awkward|clumsy))\b"
    # A concession to the reason: "CORRECT - cetirizine is given for this, although drowsiness can happen."
    r"|\A\W{0,6}(?:[\w'-]{1,30}\W{1,3}){4,30}(?:although|though)\s(?![^.!?\n]{0,150}(?:\d|\b(?:wrong|incorrect|inaccurate|errors?"
    r"|mistakes?|should|would|could|might|may|must|question\w{1,5}|debatable|prefer\w{0,5}|sentence|line|inconsisten\w{1,3}|doubt\w{0,3}"
    r"|not|never|cannot|off|unclear|issues?|problem\w{0,5}|contraindicat\w{1,3}|too|unusual\w{0,2}|if|unless|but|only|except)\b|n't\b))",
    re.IGNORECASE,
)

LINE = re.compile(r"[^\n]+")
SENTENCE_END = re.compile(r"[.!?]['\")\]]{0,2}(?=\s)|\n")
BULLET = r"[\s+=:'.,~→➜➡✅✔✓☑❌✗✘-]{0,8}"
CAPTION = (
    r"(?:wrong|right|original|correct(?:ed|ion)?|revised|before|after|old|new|error|mistake"
    r"|incorrect)(?:\s(?:sentence|line|version|text))?\s?[:=>→-]{1,2}\s"
)
CORRECT_LINE = re.compile(
    rf"{BULLET}(?P<label>(?i:{LABEL}))?'?(?:{CORRECT_IN_CAPITALS}|{CORRECT_WORD}(?=\W{{0,4}}(?:\n|\Z)))(?!\W{{0,2}}\?)"
)
_FINE_SUBJECT = (
    r"(?:(?:it|this|everything|all|note|the\snote|it\sall|all\sof\s(?:it|this)|the\swhole\s(?:note|thing))"
    r"(?:'s|s|\sis|\sare)?\s)"
)
_OPINION = r"(?:(?:i(?:'d|\swould)?\s(?:say|think|believe|judge|rate|call|consider|vote|go\swith|guess))(?:\sthat)?\s)"
# A first or last sentence that says no more than that the note is right: "So it's correct.", "Seems fine to me."
SHORT_FINE = re.compile(
    rf"(?:(?:so|thus|hence|therefore|overall|yes|yep|all\sin\sall|in\s(?:short|sum)|{LABEL})\s?[,:]?\s{{1,2}}){{0,2}}"
    rf"{_OPINION}?{_FINE_SUBJECT}?(?:(?:looks?|seems?|reads|appears)\s(?:to\sbe\s)?)?"
    rf"(?:(?:all|perfectly|medically|entirely|quite|completely|fully|probably)\s)?"
    rf"(?P<word>correct|accurate|right|fine|okay|ok|valid|all\sright|in\sorder|as\sit\sshould\sbe|consistent|well)"
    rf"(?:\s(?:to\sme|as\s(?:it\s(?:is|stands)|is|written)|here|throughout|with\s(?:it|this\snote|the\snote)))?[\s.!,;)'-]{{0,4}}",
    re.IGNORECASE,
)
# Alone, these words may answer something else.
SHORT_WORDS = frozenset(
    {
        "right",
        "fine",
        "okay",
        "ok",
        "all right",
        "well",
        "consistent",
        "in order",
        "as it should be",
    }
)
# "Correct. The history and the treatment fit together."
OPENING_CORRECT = re.compile(
    r"\s{0,6}(?:(?i:correct)[.!]\s(?=\s{0,3}[A-Z])"
    r"|(?P<none>(?i:no\s(?:(?:medical|clinical|factual)\s)?(?:errors?|mistakes?)(?:\s(?:found|detected|present|here|identified))?))[.!]\s(?=\s{0,3}[A-Z])"
    r"|CORRECT:\s(?=(?!sentence|line|text|version)[a-z]))"
)
# "1 6 The dose is 5 mg.": the flag, the number and the corrected sentence.
FLAG_AND_NUMBER = re.compile(
    r"[ \t]{0,4}1[ \t,;]{1,3}(?P<number>\d{1,4})[ \t,;.:)]{1,3}(?P<text>[A-Z][^\n]{1,1500})"
)
# "Sentences 0 to 10 are all accurate."
RANGE_FINE = _build_statement(
    "sentences|lines|statements|ids",
    rf"\b{SENTENCE_WORD}\s(?P<first>\d{{1,4}})\s?(?:-|–|to|through|thru)\s?(?P<last>\d{{1,4}})\s(?:are|look|seem|is)\s"
    rf"(?:\w{{1,12}}\s){{0,2}}?(?:correct|accurate|fine|right|sound|valid|plausible|appropriate|ok|okay|consistent)\b",
)
BOXED = re.compile(r"\\boxed\s{0,2}")
# "CORRECT: 5 The dose is 5 mg." says both that the note is right and how to correct it.
CORRECT_AND_CORRECTION = re.compile(
    rf"{BULLET}(?i:{LABEL})?'?CORRECT\b[\s':,.;-]{{1,4}}(?:(?i:{SENTENCE_WORD})\s)?\d{{1,4}}[.):]?\s[A-Z]"
)
INCORRECT = re.compile(
    rf"{BULLET}(?:(?i:{LABEL}))?'?(?:INCORRECT|(?i:incorrect|error|not\scorrect|wrong)(?=\W{{0,4}}(?:\n|\Z)|[:,]?\s\d)"
    rf"|Incorrect(?=[.!:]\s)|ERROR(?=\W{{1,3}}\d))(?!\w)"
)
ID_LINE = compile_caseless(
    rf"{BULLET}(?:{CAPTION})?(?P<label>{LABEL})?"
    rf"(?:(?:the\s)?(?:error|wrong|incorrect|erroneous)\s{{0,2}}(?:is\s)?(?:in\s)?(?=[A-Z]))?"
    rf"(?:(?P<word>{SENTENCE_WORD}|s(?=\d))\s{{0,2}}|(?P<id>ids?\s{{0,2}}))?"
    rf"{NUMBER}(?P<mark>(?:'(?!s\b))?(?:\s{{0,2}}[.):,;=>→➜➡-]{{1,2}})?)",
)
SUBMISSION = re.compile(
    r"[ \t'-]{0,4}(?:(?:[A-Za-z]\w{0,20}(?:-\w{1,20}){1,4}"
    r"|\d{1,5}(?=[ \t,;]{1,3}[01][ \t,;]{1,3}-?\d{1,4}[ \t,;]{1,3}(?:\""
    r"|NA\b)))[ \t,;]{1,3}(?P<flag>[01])[ \t,;]{1,3}(?P<id>-?\d{1,4})(?=[\s,;]|\Z)"
    r"|(?P<bare_flag>[01])[ \t,;]{1,3}(?P<bare_id>-1(?=[ \t,;]{1,3}NA\b|[ \t]{0,3}(?:\n|\Z))"
    r"|\d{1,4}(?=[ \t,;]{1,3}\"\w)))"
    r"[ \t,;]{0,3}(?P<text>[^\n]{0,20})"
)

# "3: OK", "6: ERROR" in a list of all sentences.
STATUS = re.compile(
    r"(?:ok|okay|fine|correct|t(?:rue)?(?=\W{0,3}(?:$|\Z|\n))|no\s(?:\w{1,12}\s)?(?:errors?|issues?|problems?)|accurate|plausible|acceptable"
    r"|right|normal|consistent|good|valid)(?=\W{0,3}(?:$|\Z|\n)|[.,;-])"
    r"|[✓✔✅☑]"
    r"|(?P<wrong>[✗❌✘]|(?:error(?!s|:|\s(?:found|detected|identified|present))|wrong|incorrect|inaccurate"
    r"|erroneous|not\s(?:correct|fine|ok|okay|right|accurate)|f(?:alse)?(?=\W{0,3}(?:$|\Z|\n)))\b)",
    re.IGNORECASE,
)
DOUBT = compile_caseless(
    r"\b(?:might|may|could(?!\sn[o])(?!n't)|possibly|perhaps|maybe|at\sfirst|initially|first\sthought"
    r"|suspicious|suspicio\w{1,3}|candidates?|tempt\w{0,5}|consider(?:ed|ing)?"
    r"|quibble|far\sfrom|need(?:ed)?\s(?:more|further|additional)|(?:hard|difficult|reluctant|hesitant)\sto|hesitate|whether|one\shand|other\shand|second-most|sure\sif|asked|task)\b|\?\W{0,3}$",
)
# "Sentences 0-5: CORRECT"
SENTENCE_BEFORE = re.compile(
    rf"\b(?:{SENTENCE_WORD}|ids?)\s{{0,2}}#?\d{{1,4}}(?:\s?(?:-|to|and|,|&|through)\s?\d{{1,4}}){{0,9}}"
    r"\s{0,3}(?:is|are|was|looks?|seems?|as|:|-|=)?\s{0,3}(?:\w{1,12}\s){0,2}'?$",
    re.IGNORECASE,
)
ALMOST = re.compile(r"\b(?:almost|nearly|hardly|mostly|virtually)\s{0,2}$", re.IGNORECASE)
CONSISTENT_WITH = re.compile(
    r"\swith\s(?:an?\s|the\s)?(?P<diagnosis>[^.,;:!?\n]{3,80})", re.IGNORECASE
)
_OF_THE_NOTE = r"(?:diagnos|presentation|findings|history|guideline|standard|clinical|medical|current|each|one\b|other)"
OF_THE_NOTE = re.compile(_OF_THE_NOTE, re.IGNORECASE)
IN_PART = re.compile(
    r"\s(?:in\smost|for\sthe\smost|in\sgeneral|in\slarge|in\spart|partly)\b", re.IGNORECASE
)
# '"Vaginal pH is 5.8." is not wrong.'
CALLED_FINE = compile_caseless(
    r"\b(?:is|are|was|looks|seems)\s(?:\w{1,12}\s){0,2}?(?:right|correct|fine|accurate|not\swrong|not\sincorrect|okay|ok|plausible"
    r"|acceptable)\b",
)
IF = re.compile(r"\W{0,4}(?:if|unless|suppose|were|had)\b", re.IGNORECASE)
IF_WITHIN = re.compile(r"\b(?:if|whether|unless|in\scase|when)\b[^,;:]{0,60}$", re.IGNORECASE)
CALLED_CORRECT = re.compile(r"\W{0,4}correct(?:\s(?:sentence|line))?\s{0,2}[:=]", re.IGNORECASE)
EITHER = re.compile(r"\b(?:either|otherwise)\b", re.IGNORECASE)
CONDITION = re.compile(
    r"\W{0,4}(?:if|unless|when|where|suppose|were|had)\b"
    r"(?!\s(?:i|we|one)\s(?:must|have\sto|had\sto)\s(?:pick|choose|answer|decide)\b)",
    re.IGNORECASE,
)
CHOSEN = re.compile(
    r"\b(?:best\sguess|i(?:'d|'ll|\swould|\swill)?\s(?:say|pick|choose|answer|go\swith|select|settle|conclude))\b",
    re.IGNORECASE,
)
NEGATION = re.compile(
    r"\b(?:no|not|never|nothing|none|without|neither|nor|dismiss\w{0,4}|rul\w{1,4}\sout|cannot)\b|n't\b",
    re.IGNORECASE,
)
PARTIAL = re.compile(
    r"\b(?:other|others|rest|remaining|else|otherwise|previous|following|first|last|labs?|vitals?|exam)\b",
    re.IGNORECASE,
)
NOTE = (
    r"(?:(?:the|this|your|entire|whole|given|provided|clinical|medical|patient(?:'s)?"
    r"|progress)\s{1,2}){1,4}(?:note|text|record|vignette|document|documentation|report|case|chart|passage"
    r"|summary|narrative)"
)
FINE_WORD = (
    r"(?:correct|accurate|error-free|fine|right|consistent|ok|okay|sound|valid|plausible|unremarkable"
    r"|appropriate|coherent|flawless|in\s(?:good\s)?order"
    r"|free\s(?:of|from)\s(?:any\s)?(?:\w{1,12}\s)?(?:errors?|mistakes?))\b"
)
ERROR_NOUN = (
    r"(?:errors?|mistakes?|inaccurac(?:y|ies)|inconsistenc(?:y|ies)|flaws?|discrepanc(?:y|ies)|issues?"
    r"|problems?|corrections?|contradictions?|fault)"
)
# The articles and nouns of a note in other languages.
FOREIGN_NOTE = r"(?:la|el|le|die|der|das|il|o|a)\s(?:nota|texto|texte|note|notiz|text|testo|befund)"
_COUNT_IN_WORDS = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    r"|nineteen|twenty(?:-\w{3,5})?|thirty)"
)
CALLS_CORRECT = (
    _build_statement(
        "korrekt|richtig|correct|corrett|corret",
        rf"\b{FOREIGN_NOTE}\s(?:\w{{1,12}}\s)?(?:es|est|ist|è|é|está)\s"
        r"(?:correct[aoe]?|korrekt|richtig|corrett[ao]|corret[ao])\b",
    ),
    _build_statement(
        "fehler|error|erreur|errore|erros",
        r"\b(?:keine?n?\sfehler|ning[uú]n\serror|aucune\serreur|nessun\serrore|sem\serros"
        r"|no\shay\s(?:ning[uú]n\s)?errore?s?)\b",
    ),
    _build_statement(
        "sätze|frases|oraciones|phrases|frasi|zinnen",
        r"\b(?:alle\ssätze\ssind\s(?:\w{1,20}\s)?(?:korrekt|richtig|in\sordnung)"
        r"|todas\s(?:las|as)\s(?:frases|oraciones)\s(?:\w{1,12}\s){0,4}?(?:son|están|estão|são)\s(?:\w{1,20}\s)?corret?c?t?as"
        r"|toutes\sles\sphrases\s(?:\w{1,12}\s){0,3}?sont\s(?:\w{1,20}\s)?(?:correctes|exactes|justes)"
        r"|tutte\sle\sfrasi\s(?:\w{1,12}\s){0,3}?sono\s(?:\w{1,20}\s)?corrette"
        r"|alle\szinnen\s(?:zijn\s(?:\w{1,12}\s)?(?:correct|juist)|kloppen))\b",
    ),
    _build_statement(
        "contien|enthält| hat |presenta|contém|bevat",
        rf"{FOREIGN_NOTE}\s(?:ne\s|no\s|non\s|não\s)?(?:contiene|contient|enthält|hat|presenta|contém|bevat)\s"
        r"(?:ning[uú]n\serror|errores|errori|erros|keine?n?\sfehler|aucune\serreur|geen\sfout(?:en)?)\b",
    ),
    _build_statement(
        "正确|錯誤|错误",
        r"(?:(?:所有|全部|每个|每個|每一)(?:的)?(?:句子|陈述|陳述|句|内容)(?:都|均|皆)?(?:是)?(?:正确|没有错误|無錯誤|无误)"
        r"|(?:病历|记录|笔记|文本)(?:是)?(?:完全)?正确|(?:没有|无|未发现)(?:任何)?错误)(?!吗)",
    ),
    _build_statement(
        "unchanged|as is|as it is|as it stands|as written",
        rf"\bi(?:'d|\swould|\swill|'ll)?\s(?:leave|keep)\s(?:{NOTE}|it|everything|all\ssentences)\s(?:unchanged"
        rf"|as\s(?:it\s)?is|as\sit\sstands|as\swritten)\b",
    ),
    _build_statement("holds up|stands as", rf"{NOTE}\s(?:holds\sup|stands\sas\sit\sis)\b"),
    _build_statement(
        "no reason to|no need to",
        r"\b(?:see|find|found|have)\sno\s(?:reason|need)\sto\s(?:change|correct|alter|fix)\s(?:anything|it|this|the\snote)\b",
    ),
    # The same words for one sentence after another.
    _build_statement(
        "sentence is",
        r"\A(?:\s{0,6}(?:\d{1,3}[.)]\s)?(?:the|this)\ssentence\sis\s(?:medically\s)?correct[.\s]{1,6}){3,60}\Z",
    ),
    _build_statement(
        "check",
        rf"(?:{NOTE}|\b(?:everything|it\sall|all\s(?:of\sit|sentences|lines)))\s(?:checks?\sout|passes\smy\scheck)\b",
    ),
    _build_statement(
        "note's|text's|case's|record's",
        rf"{NOTE}'s\s(?:(?:medically|factually|clinically|all|entirely|completely)\s)?{FINE_WORD}",
    ),
    _build_statement(
        "this is|it is|it's",
        r"\b(?:this\sis|it(?:\sis|'s))\san?\s(?:\w{1,20}\s)?(?:correct|accurate|error-free|flawless)\s(?:\w{1,20}\s)?note\b",
    ),
    _build_statement(
        "nothing",
        r"\bnothing\b(?!\s(?:more|else|further|other))[^.!?,;\n]{0,40}?\b(?:wrong|amiss|incorrect|altered|out\sof\splace|to\s(?:report|fault|flag|correct|fix|change|amend))\b"
        r"|\bchange\snothing\b",
    ),
    _build_statement(
        "change",
        r"\b(?:wouldn't|would\snot|won't)\schange\s(?:a\s(?:thing|word)|anything)\b",
    ),
    _build_statement(
        "everything|adds up|add up|is well",
        r"\b(?:everything|it)\s(?:in\s(?:this|the)\snote\s)?is\sas\sit\sshould\sbe\b|\b(?:everything|it\sall|that\sall)\sadds\sup\b"
        r"|\ball\sis\swell\swith\s(?:this|the)\snote\b",
    ),
    _build_statement(
        "sentence|line|statement",
        rf"\b(?:all|each|every)\s(?:of\s(?:the|these)\s)?(?:\d{{1,4}}\s)?{SENTENCE_WORD}\s(?:in\s(?:the|this)\snote\s)?"
        rf"(?:holds?|pass(?:es)?|stands?|(?:is|are)\s(?:consistent|compatible|in\skeeping)\swith\s(?:the\s(?:others|rest)|each\sother))\b"
        r"|\bno\s(?:sentence|line|statement)\s(?:is|was|has\sbeen|seems|looks|appears)\s(?:to\s(?:be|have\sbeen)\s)?(?:altered|wrong|off|changed|tampered\swith)\b"
        r"|\bthere\s(?:is|are)\sno\s(?:wrong|incorrect|altered)\s(?:sentences?|lines?)\b",
    ),
    _build_statement(
        "correct|accurate|fine|right",
        r"\b(?:call|consider|deem|judge|mark|rate|find|believe)\s(?:it|this)\s(?:to\sbe\s|as\s|is\s)?(?:all\s|entirely\s)?(?:correct|accurate|fine|right)(?=\W{0,3}(?:\n|\Z)|[.!]\s)"
        r"|\b(?:it|note)\sis\s(?:correct|accurate|fine|right)\sas\sit\s(?:stands|is)\b",
    ),
    _build_statement(
        "anything",
        r"\b(?:(?:could|did|do|does|was|am)(?:\snot|n't)|can\snot|can't|cannot|unable\sto|not\sable\sto)\s(?:really\s|actually\s)?"
        r"(?:find|see|identify|detect|spot|notice|have)\sanything\s(?:that(?:'s|\sis|\sneeds|\sshould)\s(?:to\s)?(?:be\s)?"
        r"|to\s|in\sneed\sof\s)?(?:medically\s|factually\s)?(?:wrong|incorrect|inaccurate|amiss|chang|correct|fix|altered)\w{0,5}\b",
    ),
    _build_statement(
        "anything",
        r"\b(?:wouldn't|would\snot|don't|do\snot)\s(?:say|think|believe|feel)\s(?:that\s)?(?:there(?:'s|\sis)\s)?anything\b"
        r"[^.!?,;\n]{0,40}?\b(?:wrong|incorrect|amiss|inaccurate|out\sof\splace)\b",
    ),
    _build_statement(
        "none",
        r"\b(?:and|but|i)\s(?:have\s)?(?:found|see|saw|identified|detected)\snone\W{0,3}(?:\n|\Z)",
    ),
    _build_statement(
        "correct|accura|error|fine|right|consistent|ok|sound|valid|plausible|unremark|appropriate|coherent|flawless"
        "|order|free of|free from",
        rf"(?:{NOTE}|\b(?:all|each|every)\s(?:one\s)?(?:of\s)?(?:(?:the|these"
        rf"|its)\s)?(?:(?:\d{{1,4}}|{_COUNT_IN_WORDS})\s)?{SENTENCE_WORD}|\beverything|\b(?:every\sone|all|each)\sof\sthem|\bthey\sall|\bthe\swhole\sof\s(?:it|this))"
        rf"(?:\s(?:in|of|here|above|about)(?:\s(?:it|this|here)(?=\s)|\s(?:the|this)\s(?:\w{{1,20}}\s)?(?:note|text))?|\s(?:itself|as\s(?:written"
        rf"|given|a\swhole|it\sstands|presented|provided)))?\s(?:is|are|looks?|seems?|appears?"
        rf"|reads?)(?:\sto\sbe)?\s"
        rf"(?:(?:both|all|probably|likely|most\slikely|still|actually|already|entirely|completely|fully|medically"
        rf"|factually|clinically|internally|therefore|thus|indeed|as\swritten|quite"
        rf"|overall)[\s,]{{1,2}}(?:and\s)?){{0,3}}{FINE_WORD}",
    ),
    _build_statement(
        "call|consider|deem|judge|mark|rate|find|believe|label",
        rf"\b(?:call|consider|deem|judge|mark|rate|find|believe|label)\s{NOTE}\s(?:to\sbe\s"
        rf"|as\s)?(?:\w{{1,12}}\s){{0,1}}{FINE_WORD}",
    ),
    _build_statement("correct?", rf"\bis\s{NOTE}\s(?:\w{{1,12}}\s)?correct\?\s{{1,2}}yes\b"),
    _build_statement("flag", r"\berror\sflag\s{0,2}(?:is|=|:)\s{0,2}0\b"),
    _build_statement(
        "there isn|there is not|there aren|there are not",
        rf"\bthere\s(?:is|are)(?:n't|\snot)\s(?:an?|any)\s(?:\w{{1,20}}\s){{0,2}}{ERROR_NOUN}\b",
    ),
    _build_statement(
        "don't|do not",
        rf"\b(?:don't|do\snot)\s(?:think|believe|see)\s(?:that\s)?there(?:'s|\sis|\sare)\s(?:an?"
        rf"|any)\s(?:\w{{1,20}}\s){{0,2}}{ERROR_NOUN}\b",
    ),
    _build_statement("error?|errors?|mistakes?", r"\b(?:errors?|mistakes?)\?\s{1,2}(?:no|none)\b"),
    _build_statement(
        "there do",
        rf"\bthere\s(?:does|do)(?:n't|\snot)\s(?:appear|seem)\sto\sbe\s(?:an?|any)\s(?:\w{{1,20}}\s){{0,2}}{ERROR_NOUN}\b",
    ),
    _build_statement(
        "errors|error:|error :|mistakes",
        r"\b(?:errors?|mistakes?)(?:\s(?:found|detected|identified|present|count))?\s{0,2}[:=]\s{0,2}(?:none|0"
        r"|zero|nil)\b",
    ),
    _build_statement(
        " no ",
        rf"{NOTE}\s(?:contains|has|shows|includes)\sno\s(?:\w{{1,20}}\s){{0,2}}{ERROR_NOUN}\b",
    ),
    _build_statement(
        "no |0 |zero ",
        rf"\b(?:no|0|zero)\s(?:(?!other|further|more|additional|such)\w{{1,20}}\s){{0,2}}(?:{ERROR_NOUN}|changes?"
        rf"|alterations?)\b"
        rf"(?=\s(?:(?:that\s)?(?:was|were|is|are|has\sbeen|have\sbeen|could\sbe|can\sbe)\s|to\s|found|detected"
        rf"|identified|present|needed|required|necessary|noted|seen|spotted|exists?|with\s(?:it|this|the\snote)\b"
        rf"|in\s(?:the|this|any|your)\s(?:\w{{1,20}}\s){{0,2}}(?:note|text|sentences?|record|vignette)|here)"
        rf"|\W{{0,4}}(?:$|\Z|\n|[,;]))",
    ),
    _build_statement(
        "not |n't |unable",
        rf"\b(?:(?:could|did|do|does|was|am)(?:\snot|n't)|can\snot|can't|cannot|not|unable\sto"
        rf"|not\sable\sto)\s(?:(?:really|actually)\s|(?:appear|seem)\sto\s)?(?:find|see|identify|detect|contain"
        rf"|spot|have|locate|notice"
        rf"|include|show)\s(?:an?\s|any\s)?(?:\w{{1,20}}\s){{0,2}}{ERROR_NOUN}\b",
    ),
    _build_statement(
        "nothing",
        r"\bnothing\s(?:\w{1,12}\s){0,2}(?:(?:needs|has|ought)\s(?:to\s(?:be\s)?)?(?:chang|correct|fix)\w{1,4}"
        r"|(?:is\s)?(?:wrong|incorrect|inaccurate)|to\s(?:correct|fix|change))\b",
    ),
    _build_statement(
        "none of|no ",
        rf"\b(?:none\sof\s(?:the|these|its)|no)\s(?:\d{{1,4}}\s)?{SENTENCE_WORD}\s(?:\w{{1,12}}\s){{0,4}}?(?:wrong"
        rf"|incorrect|inaccurate|errors?|erroneous|changed|corrected|correcti\w{{1,3}})\b",
    ),
)
TOKEN = re.compile(rf"(?<![\w-]){CORRECT_IN_CAPITALS}(?!\W{{0,2}}\?)")
BEFORE_TOKEN = re.compile(
    r"(?:[:=>,'-]|\b(?:answer|say|respond|mark|marked|is|as|with|verdict|stand|remains?|output|therefore|so"
    r"|thus|note|conclude|reply|it|rate))\s{0,3}$",
    re.IGNORECASE,
)

WRONG_WORD = (
    r"(?:wrong|wrng|worng|incorrect|incorect|inaccurate|erroneous|errors?(?!-free)|mistakes?|mistaken|false|flawed|problem(?:atic)?"
    r"|inconsistent|inappropriate|contraindicated|altered|faulty"
    r"|culprit|misleading|implausible|contradict\w{1,4}|falsch|incorrect[aoe]|err[oó]nea?|erronée?"
    r"|sbagliat[ao]|fout|fel|fausse|faux|błędn[eya]|неверно|неправильн\w{2}|ошибочн\w{2}|errad[ao])\b"
)
NOT_RIGHT = (
    r"(?:not|n't)\s(?:\w{1,12}\s){0,2}?(?:correct|right|accurate|consistent|appropriate|supported|compatible"
    r"|plausible|true|indicated|fit|match|explain|agree|make\ssense)\b"
)
THIS_WRONG = re.compile(
    rf"^\W{{0,4}}(?:(?:this|that|it|here)\s(?:one\s|sentence\s|line\s|statement\s)?(?:is|has|contains|looks"
    rf"|seems|'s)\s(?:\w{{1,12}}\s){{0,3}}?(?:{WRONG_WORD}|{NOT_RIGHT})"
    rf"|(?:wrong|incorrect|error|erroneous|inaccurate)\W{{0,3}}(?:$|\Z|\n))",
    re.IGNORECASE,
)
WRONG_BEFORE = compile_caseless(
    rf"(?:\b(?:error(?!s)|mistake(?!s)|inaccuracy|inconsistency|problem|issue|flaw|discrepancy|contradiction"
    rf"|fehler|erreur|errore|erro|fout|ошибка|falla)|"
    rf"\b(?:incorrect|wrong|erroneous|inaccurate|altered|faulty|flawed|problematic|false|mistaken|inconsistent"
    rf"|modified|changed|falsche|offending|bad)\s{{1,2}}(?:{SENTENCE_WORD}|one|entry|id)|\boffender|\b(?:sentence|line)\sat\sfault|\b(?:frase|phrase|oraci[oó]n|l[ií]nea)\s(?:sbagliata|errata|incorrecta|err[oó]nea|fausse|erronée|incorrecte|errada)|\b(?:wrong|incorrect)\s(?!answer|note)\w{{3,15}}(?=\sin\s(?:{SENTENCE_WORD}\s)?\d)|\bculprit|\bodd\sone\sout)"
    rf"(?P<between>(?:[^\d.!?\n]|\d{{1,2}}(?:st|nd|rd|th)\b){{0,60}}?)(?:{REFERENCE}|(?:\b(?:is|at|in|with|id|la)"
    rf"|[:=→➜]|->)\s{{1,3}}(?:(?:ids?"
    rf"|numbers?|no\.?)\s{{0,2}})?'?(\d{{1,4}}){NOT_AFTER})",
)
WRONG_AFTER = compile_caseless(
    rf"{REFERENCE}(?P<between>(?:[^.!?\n]|(?<=\d)\.(?=\d)){{0,160}}?)"
    rf"(?:(?:\b(?:is|was|are|contains?|has|includes?|seems|appears|looks|holds|as|being|be|with)"
    rf"|'s)\s(?:(?!not\b|no\b)\w{{1,12}}\s){{0,4}}?{WRONG_WORD}"
    rf"|[:=-]\s{{0,3}}(?:(?!not\b|no\b)\w{{1,12}}\s){{0,2}}?{WRONG_WORD}"
    rf"|{NOT_RIGHT}|\b(?:should|must|needs\sto|ought\sto|has\sto)\s(?!not\b|stay"
    rf"|remain)(?:\w{{1,12}}\s){{0,2}}?(?:be|read|say|state|have|mention|name|instead|contain|list)\b"
    r"|\b(?:conflicts?|clashes)\swith(?!\s(?:sentence|line)s?\s\d)\b|\b(?:misidentif|misstat|misnam|mislabel|misdiagnos)\w{1,4}\b"
    r"|\b(?:gives|names|states|has|uses|lists|makes)\s(?:an?|the)\s(?:wrong|incorrect|erroneous)\b|\b(?:tampered|meddled)\swith\b"
    r"|\b(?:is|seems|looks|sounds)\s(?:a\s(?:bit|little)\s)?off\b|\bmakes\sno\ssense\b|\bis\swhere\s(?:the\serror|it\sgoes\swrong)\b"
    r"|\binstead\sof\b|\bneeds\s(?:an?\s)?(?:to\sbe\s)?(?:correct|chang|fix|revis|amend|replac)\w{1,5}\b"
    r"|\b(?:must|has\sto|should)\sbe\s(?:correct|chang|fix|revis|amend|replac)\w{1,5}\b"
    rf"|\b(?:is|ist|es|est|è|é|está|jest)\s(?:the\s(?:one|error|wrong|incorrect|problem|altered)|{WRONG_WORD}))",
)
MENDED = compile_caseless(
    rf"\b(?:change|correct|replace|fix|strike(?:\sout)?|rewrite|amend|edit|revise|modify|cross\sout"
    rf"|flag(?:ged)?|correcting|marked|corrected|disagree\swith|take\sissue\swith|object(?:ion\sis)?\sto|(?:goes|went)\swrong\s(?:in|at))"
    rf" {{1,2}}(?:the )?(?:\w{{1,12}} ){{0,2}}?{REFERENCE}",
)
MENDED_IN = compile_caseless(
    rf"\b(?:(?:change|replace|correct|fix|swap)\s|(?:should|must|needs\sto|ought\sto)\s(?:have\s)?(?:be(?:en)?"
    rf"|read|say|state)\b)[^\n.!?]{{0,160}}?(?:\bin\s(?:the\s)?|\s{{2}}){REFERENCE}",
)
CHOICE = compile_caseless(
    rf"(?:\b(?:had|have)\sto\s(?:pick|choose|guess|decide)(?:\sone)?,?|\b(?:best\sguess|my\s(?:pick|choice|vote|money))(?:\s(?:is|was|would\sbe|goes\sto|on))?"
    rf"|\bi(?:'d|'ll|\swould|\swill)?\s(?:say|pick|choose|answer|go\s(?:with|for)|select|flag|settle\s(?:on"
    rf"|for)|opt\sfor|name)(?:\sthat|\sit's|\sit\sis)?"
    rf"|\bthe\s(?:sentence\s)?id\s(?:is|would\sbe)|\bleav(?:es|ing)\s(?:us\swith|only|just|me\swith)?|\b(?:it"
    rf"|this)(?:'s|\sis|\smust\sbe|\shas\sto\sbe)(?=\s(?:the\s)?(?:{SENTENCE_WORD}|ids?)\s))"
    rf"\s{{0,2}}:?\s{{0,2}}(?:the\s)?(?:{SENTENCE_WORD}\s)?{NUMBER}(?!\s(?:[a-z]{{2,}})\s(?:{SENTENCE_WORD}))",
)
# "It's 6.", "Probably 6", "Wrong is 6": a sentence that says no more.
BARE_CHOICE = compile_caseless(
    rf"(?:^|[.!?\n]\s|,\s(?=so\s|hence\s))\W{{0,4}}(?:(?:i\sthink\s)?(?:it(?:'s|\sis|\smust\sbe|\shas\sto\sbe)|gotta\sbe|must\sbe|has\sto\sbe)"
    rf"|(?:so|hence|thus|therefore|final|verdict|return|print)(?:\s(?:it's|it\sis|it\smust\sbe))?"
    rf"|probably|most\slikely|likely|definitely|obviously|(?:what(?:'s|\sis)\s)?wrong(?:\sis)?|erroneous|faulty|incorrect|bad"
    rf"|i(?:'d|\swould)\s(?:fix|correct|change|flag)|i\svote\sfor|my\smoney(?:'s|\sis)\son)"
    rf"[:,]?\s(?:probably\s)?(?:in\s)?(?:{SENTENCE_WORD}\s)?{NUMBER}(?=\s{{0,2}}(?:[.!,;:)]|\n|\Z|because\b|since\b)|\s\s)",
)
_WRONG_IN_CHINESE = r"(?:错误|錯誤|有误|有誤|有错|不正确|不正確|誤り|間違)"
WRONG_AFTER_CHINESE = compile_caseless(
    r"(?:第\s?(\d{1,4})\s?(?:号|號|番)?\s?(?:个|個)?(?:句|行|文)|句子?\s?(\d{1,4})(?!\d)|(\d{1,4})\s?番の文)"
    rf"(?P<between>[^。！？\n\d不没無ない]{{0,12}}?){_WRONG_IN_CHINESE}"
)
WRONG_IN_OTHER_SCRIPT = compile_caseless(
    r"(?:(\d{1,4})번\s?문장|الجملة\s(?:رقم\s)?(\d{1,4})|文\s?(\d{1,4}))(?P<between>[^.。\n\d]{0,8}?)(?:틀[렸립]|잘못|오류|خاطئة|خطأ|間違|誤り)"
)
WRONG_BEFORE_CHINESE = compile_caseless(
    rf"{_WRONG_IN_CHINESE}(?:的)?(?:句子)?(?:在于|出现在|位于|是|在|为|は)\s?(?:第\s?(\d{{1,4}})\s?(?:号)?(?:句|行|文|个句)|句子\s?(\d{{1,4}})(?!\d))"
)
REMAINS = compile_caseless(
    rf"(?:\b(?:thus|so|therefore|hence|only)\b,?\s)(?:{SENTENCE_WORD}\s)?{NUMBER}\s(?:remains|is\sleft)\b",
)
EXCEPT_FOR = compile_caseless(
    rf"\b(?:except|apart\sfrom|other\sthan|besides|save\sfor|aside\sfrom)\s(?:for\s|in\s)?(?:the\s)?{REFERENCE}",
)
ALL_EXCEPT = compile_caseless(
    rf"\b(?:all|everything|every)\s(?:\w{{1,12}}\s){{0,3}}?(?:except|but|besides|other\sthan|apart\sfrom)\s(?:for\s)?(?:{SENTENCE_WORD}\s)?{NUMBER}",
)
CALLS_WRONG_SOMEWHERE = (
    _build_statement(
        "incorrect|wrong|inaccurate|erroneous",
        rf"{NOTE}\s(?:contains|has|includes|states|gives)\sa[n]?\s(?:incorrect|wrong|inaccurate|erroneous)\s\w"
        rf"|\bthe\s(?:diagnosis|treatment|medication|drug|dose|dosage|organism|pathogen|management|therapy)\s"
        rf"(?:in\s{NOTE}\s|here\s|given\s|chosen\s)?(?:is|was)\s(?:clearly\s)?(?:incorrect|wrong|inaccurate"
        rf"|erroneous)\b",
    ),
    _build_statement(
        "contain|has|have|include",
        rf"{NOTE}\s(?:\w{{1,12}}\s)?(?:contains?|has|have|includes?)\s(?:an|one|1|a|some|several|two|multiple|2|3"
        rf"|three)\s(?:\w{{1,20}}\s){{0,2}}{ERROR_NOUN}\b",
    ),
    _build_statement(
        "is incorrect|is wrong|is inaccurate|is not|isn't",
        rf"{NOTE}\s(?:is\s(?:incorrect|wrong|inaccurate)|is(?:n't|\snot)\s(?:\w{{1,12}}\s)?(?:correct|accurate|right(?=\W)))\b",
    ),
    _build_statement(
        "there is|there are",
        rf"\bthere\s(?:is|are)\s(?:indeed\s)?(?:an|one|1|a|two|several|some|multiple|2"
        rf"|at\sleast\sone)\s(?:\w{{1,20}}\s){{0,2}}{ERROR_NOUN}\b",
    ),
    _build_statement(
        "notice|found|find|see |identified|spotted|detected",
        rf"\b(?:i|we)\s(?:\w{{1,12}}\s)?(?:notice|noticed|found|find|see|identified|spotted|detected)\s(?:an|one|a"
        rf"|two|three|several|some|multiple|2|3)\s(?:\w{{1,20}}\s){{0,2}}{ERROR_NOUN}\b",
    ),
    _build_statement(
        "sentences|lines",
        rf"\b(?:two|three|several|multiple|[2-9])\s(?:\w{{1,12}}\s){{0,2}}(?:sentences|lines)\s(?:are|look|seem"
        rf"|contain|have)\s(?:\w{{1,12}}\s){{0,2}}{WRONG_WORD}",
    ),
    _build_statement(
        "sentence|line",
        rf"\bthe\s(?:\w{{1,12}}\s){{1,3}}(?:sentence|line)\s(?:is|contains|has)\s(?!not\b)(?:(?!not\b"
        rf"|no\b)\w{{1,12}}\s){{0,2}}{WRONG_WORD}",
    ),
    _build_statement(
        "found|detected|identified",
        r"\b(?:[1-9]|one|two|three|several)\s(?:\w{1,12}\s){0,2}(?:errors?|mistakes?)\s(?:(?:was"
        r"|were)\s)?(?:found|detected|identified)\b",
    ),
    _build_statement("flag", r"\berror\sflag\s{0,2}(?:is|=|:)\s{0,2}1\b"),
    _build_statement(
        "one of them|one of the two",
        rf"\bone\sof\s(?:them|the\stwo)\s(?:is|must\sbe|has\sto\sbe)\s(?:(?!not\b|no\b)\w{{1,12}}\s){{0,2}}{WRONG_WORD}",
    ),
    _build_statement(
        "number of errors|error count",
        r"\b(?:number\sof\serrors|error\scount)\s{0,2}(?:is|=|:)\s{0,2}[1-9]\b",
    ),
    _build_statement(
        "error|mistake",
        r"\bis\s(?:(?!not\b|no\b)\w{1,12}\s)?(?:an|the)\s(?:\w{1,12}\s)?(?:error|mistake)\b(?!\sin)",
    ),
    _build_statement("in sentences", r"\b(?:errors|mistakes)\s(?:are\s)?in\ssentences\s\d{1,4}"),
    _build_statement("not correct", r"\bnot\sCORRECT\b"),
    _build_statement("error?|errors?|mistakes?", r"\b(?:errors?|mistakes?)\?\s{1,2}yes\b"),
    _build_statement(
        "there seem|there appear",
        rf"\bthere\s(?:seems?|appears?)\sto\sbe\s(?:an?|one|1)\s(?:\w{{1,20}}\s){{0,2}}{ERROR_NOUN}\b",
    ),
    _build_statement(
        "not every|not all",
        rf"\bnot\s(?:every|all)\s(?:of\s(?:the|these|its)\s)?(?:the\s)?{SENTENCE_WORD}\s(?:\w{{1,12}}\s){{0,4}}?(?:is|are)\s{FINE_WORD}",
    ),
    _build_statement(
        "one sentence|one line|a sentence|one of",
        rf"\b(?:one|a|exactly\sone|one\sof\s(?:the|these|its))\s(?:sentences?|lines?)\s(?:in\s{NOTE}\s)?(?:is|contains|has|seems|looks)\s"
        rf"(?:(?!not\b|no\b)\w{{1,12}}\s){{0,3}}{WRONG_WORD}",
    ),
    _build_statement(
        " and |&| or ",
        rf"(?:\b{SENTENCE_WORD}|\beither"
        rf"|\bboth)\s(?:{SENTENCE_WORD}\s)?\d{{1,4}}(?:,\s?\d{{1,4}}){{0,20}},?\s(?:and|&"
        rf"|or)\s(?:{SENTENCE_WORD}\s)?\d{{1,4}}\s"
        rf"(?:is|are|contains?|has|have)\s(?:both\s|all\s)?(?:an?\s)?{WRONG_WORD}",
    ),
)
FINDS_NONE = re.compile(r"(?:i|we)\s(?:cannot|can't|never|couldn't|don't|didn't)\s")
# One of these occurs in every retraction; looking for them first is much faster.
WORDS_OF_RETRACTION = (
    *(
        "hold",
        "scratch",
        "take",
        "disregard",
        "ignore",
        "second",
        "further",
        "closer",
        "chang",
        "let",
        "actually",
    ),
    *("i was", "think", "not sure", "wait", "mistake", "misread"),
)
RETRACTION = re.compile(
    r"\b(?:hold\son|scratch\sthat|take\s(?:that|it)\sback|disregard(?!\s(?:for|of)\b)|ignore\s(?:my|the|that|what)|on\s(?:second"
    r"|further|closer)\s(?:thought|reflection|look|inspection)"
    r"|chang\w{1,3}\smy\s(?:mind|answer)|let\sme\s(?:reconsider|re-?think|correct|start\sover)|actually,?\sno"
    r"|no,\sactually|i\swas\s(?:wrong|mistaken)|need\sto\sthink"
    r"|not\ssure\sabout\s(?:that|this|my)|wait(?=[,.!-]|\s(?:no|actually|a))|my\smistake|i\smisread)\b",
    re.IGNORECASE,
)
STRONG_RETRACTION = re.compile(
    r"\b(?:actually,?\sno|no,\sactually|scratch\sthat|wait,?\sno|on\ssecond\sthought|i\stake\s(?:that|it)\sback)\b",
    re.IGNORECASE,
)
TURN_NEXT = re.compile(r"\s{0,4}(?:however|but|except|only|although|yet)\b", re.IGNORECASE)
TURN = re.compile(
    r"\b(?:but|however|actually|although|though|dismissed|still|yet|acceptable|nevertheless)\b",
    re.IGNORECASE,
)
# "So the note is CORRECT.", "Final answer: CORRECT"
CONCLUDES = re.compile(
    r"\s{0,9}(?:(?:so|thus|therefore|hence|overall|consequently|in\s(?:conclusion|summary|short)|on\sreflection)\b"
    r"|(?:my\s|the\s)?final\s(?:answer|verdict)\b)",
    re.IGNORECASE,
)
# "With this change, the note has no error."
AFTER_CORRECTION = re.compile(
    r"\b(?:corrected|corrections?|change[ds]?|chang(?:e|ing)|fix(?:ed|ing)?|revis\w+|replac\w+|rewrit\w+|should|instead|otherwise"
    r"|(?:the\s)?(?:rest|remain\w+|others?)|apart\sfrom|except\w*|now\scorrect|wrong|incorrect|mistake)\b",
    re.IGNORECASE,
)
# "7 because fluconazole does not treat BV.", "7 fluconazole should be metronidazole", "7, fluconazole → metronidazole"
REASON = re.compile(
    r"(?:because|since|as|where)\b|[^.!?\n]{0,80}(?:\bshould\b|→|\s-\s\s)", re.IGNORECASE
)
# "The note has no error; sentence 5 is right."
FINE_ASIDE = compile_caseless(
    rf";\s{REFERENCE}\s(?:is|looks|seems)\s(?:also\s|perfectly\s|medically\s)?{FINE_WORD}\W{{0,3}}$",
)
# "Sentence 6 is inconsistent with a normal pH, but fits the diagnosis."
EXCUSE = re.compile(
    r"\b(?:but|though|although|yet|still)\b[^.!?\n]{0,100}\b(?:fits?|acceptable|fine|not|can't|isn't|don't"
    r"|doesn't|consistent|plausible|explain\w{0,3}|normal|okay?|correct|minor)\b",
    re.IGNORECASE,
)
# "However, it is not possible to know ... If it shows trichomonads, then the note is CORRECT."
LEFT_OPEN = compile_caseless(
    r"\bnot\s(?:be\s)?possible\sto\s(?:know|say|determine|tell|judge|decide)\b"
    r"|\bif\b[^.!?\n]{0,160}\bthe\s(?:note|text|report)\s(?:is|would\sbe)\s(?:then\s)?(?:correct|right|fine)\b"
    r"|\bit\sis\snot\s(?:certain|clear)\b(?!\swhy)"
)
# "..., but I can't tell which sentence."
CANNOT_NAME = re.compile(
    r"\b(?:but|though|although)\si\s(?:(?:can't|cannot|can\snot|couldn't|could\snot|am\snot\sable\sto|am\sunable\sto)\s"
    r"(?:tell|say|pin|name|decide|identify|determine|single|point)"
    r"|(?:am\snot\s(?:\w{1,12}\s)?(?:sure|certain)|don't\sknow|do\snot\sknow)(?=\s(?:in\s)?(?:which|where)))\b[^.!?\n]{0,80}",
    re.IGNORECASE,
)
# "So the note might also be CORRECT." at the end, behind a sentence that was called wrong
ALSO_POSSIBLE = compile_caseless(
    r"\b(?:note|text|report|it|this|answer|verdict)\s(?:might|may|could)\s(?:(?:also|still|well|equally|just\sas\swell|then|very\swell|even|actually)\s){1,2}"
    r"be\s'?(?:correct|fine|right)\b[^.!?\n]{0,40}[.!]?\s{0,5}\Z"
)
# "I can't identify an error with confidence."
WITHOUT_CONFIDENCE = re.compile(
    r"[^.!?;,\n]{0,40}?\s(?:with\s(?:\w{1,12}\s)?(?:confidence|certainty)|for\s(?:sure|certain)|confidently|beyond\s(?:\w{1,12}\s)?doubt)\b",
    re.IGNORECASE,
)
# "I'm keeping CORRECT.", with which an answer ends
KEPT = re.compile(
    r"\bI(?:'m|\sam|'ll|\swill|'d|\swould)?\s(?:(?:still|therefore|thus|hence|rather)\s)?(?:keep(?:ing)?|stay(?:ing)?\swith|stick(?:ing)?\s(?:with|to)"
    r"|go(?:ing)?\swith|settl(?:e|ing)\s(?:on|for)|leav(?:e|ing)\sit\s(?:as|at)|maintain(?:ing)?)\s(?:(?:my|the)\s(?:answer|verdict|label)\s?(?:of|as|at|is)?\s?:?\s?"
    r"|it\s(?:as|at)\s)?'?(?P<verdict>CORRECT)'?(?=[\s.!)]{0,9}\Z)"
)
# "CORRECT" alone at the end, on its own line or behind an arrow or colon
LAST_WORD = re.compile(
    r"(?:\n\W{0,5}|(?P<arrow>→|➜|➡|[=-]>)\s{0,3}|[:=]\s{0,3})'?(?P<verdict>CORRECT)(?=[\s.!')]{0,9}\Z)"
)
# Between a sentence of the note and "CORRECT": words by which the sentence is altered.
ALTERS = re.compile(
    r"\b(?:correct(?:ed|ions?)|changed?\sto|fix(?:ed)?|revised|replaced?|rewrit\w+|should\s(?:have\sbeen|be|read|say|state)|instead|rather\sthan|otherwise|now\scorrect"
    r"|wrong|incorrect|inaccurate|errors?|mistakes?|erroneous|contraindicated)\b",
    re.IGNORECASE,
)
APPROVES = re.compile(
    r"\b(?:is|are|was|were|looks?|seems?)\s(?:(?!not\b|no\b)\w{1,12}\s){0,3}?(?:correct|right|fine|accurate|consistent|plausible|reasonable|appropriate"
    r"|acceptable|indicated|standard|recommended|compatible)\b|\b(?:that|this|it|which|all|everything)\s(?:all\s)?(?:fits?|matches|agrees?|makes\ssense)\b",
    re.IGNORECASE,
)
# "Option A: CORRECT", beside another option
OFFERED = re.compile(
    r"^\W{0,5}(?:option|version|alternative|candidate|choice|possibility)\s(?:[A-C]|[1-3])\s?[:.)]",
    re.MULTILINE | re.IGNORECASE,
)
ANNOUNCED_AS_FINAL = re.compile(r"\bfinal\b[^.!?\n]{0,30}$", re.IGNORECASE)
# Behind "CORRECT": "However, sentence 3 is questionable."
QUESTIONED = compile_caseless(
    rf"{REFERENCE}\s(?:(?:is|are|was|looks|seems|appears|remains|sounds)\s(?:(?!not\b|no\b)\w{{1,12}}\s){{0,2}}"
    r"(?:questionable|doubtful|dubious|suspect|debatable|problematic|unclear)\b"
    rf"|(?:could|might|may)\s(?:\w{{1,12}}\s){{0,1}}be\s(?:\w{{1,12}}\s){{0,1}}(?:questionable|{WRONG_WORD}))",
)
# "Sentence 7 would then be wrong as well."
ONLY_THEN_WRONG = re.compile(r"\bwould\s(?:then|also|in\sthat\scase)\b", re.IGNORECASE)
# "Sentence 6 is the one I'd double-check.", "except for sentence 7, or perhaps 6"
NOT_SAID_WRONG = re.compile(
    r"[^.!?\n]{0,12}\b(?:double-?\s?check|check|verify|review|look\sat|query)\b"
    r"|,?\s(?:or|and)\s(?:perhaps|maybe|possibly)\b",
    re.IGNORECASE,
)
BARE_WRONG = re.compile(
    rf"(?:^|[.!?,]\s)\s{{0,3}}(?:(?:so|thus|hence|therefore),?\s|but\s)?(?:only\s)?(\d{{1,4}})\s(?:(?:isn't|is\snot)(?:\s(?:right|correct|fine|okay|ok))?(?=\s{{0,2}}[.,:;!\n])|(?:is|was|must\sbe"
    rf"|should\sbe)\s(?!not\b)(?:(?!not\b)\w{{1,12}}\s){{0,3}}?(?:{WRONG_WORD}|(?:{SENTENCE_WORD}"
    rf"|one)\s(?:with|containing)\sthe\serror|off\b(?=\W)|the\s(?:one|error|mistake)(?=\s?[.!\n]|\Z))|(?:has|contains|holds)\s(?:the|an)\s(?:error|mistake)\b)",
    re.IGNORECASE | re.MULTILINE,
)
NUMBER_ALONE = compile_caseless(
    rf"(?:^|[.!?]\s)\s{{0,3}}{REFERENCE}(?=\s{{0,12}}(?:\.\s|\.?\Z|\.?\n))",
    re.MULTILINE,
)
REFERS = (
    "sentence|number|sentense|sentance|предложени|строк|line|id|statement|item"
    "|satz|zeile|frase|phrase|orac|línea|riga|zin|mening|zdanie"
)
CALLS_SENTENCE_WRONG = (
    _join(
        "error|mistake|inaccura|incons|problem|issue|flaw|discrep|contradict|wrong|incorrect|altered"
        "|fault|false|modified|changed|culprit|odd one|fehler|erreur|falsch|erro|fout|ошибка|falla|offend|bad |bad:"
        "|sbagliat|errat|errad|errón|erronée|fausse",
        WRONG_BEFORE,
    ),
    _join(REFERS, WRONG_AFTER),
    _join(
        "change|correct|replace|fix|strike|rewrite|amend|edit|revise|modify|cross|flag|mark|disagree"
        "|issue|object|wrong",
        MENDED,
    ),
    _join(
        "change|replace|correct|fix|swap|should|must|need|ought",
        MENDED_IN,
    ),
    _join("guess|my |i |i'|leav|it |this| id ", CHOICE),
    _join(
        "it'|it |be |likely|probably|definitely|obviously|wrong|erroneous|faulty|incorrect|bad|so|hence|thus|therefore"
        "|final|verdict|return|print|i'd|i would|i vote|money",
        BARE_CHOICE,
    ),
    _join("句|番|行", WRONG_AFTER_CHINESE),
    _join("句|行|文", WRONG_BEFORE_CHINESE),
    _join("번|الجملة|文", WRONG_IN_OTHER_SCRIPT),
    _join("remains|is left", REMAINS),
    _join("except|apart|other than|besides|save for|aside", EXCEPT_FOR),
    _join("except| but |besides|other than|apart from", ALL_EXCEPT),
    _join(REFERS, NUMBER_ALONE),
)
DIGIT = re.compile(r"\d")
ANNOUNCEMENT = compile_caseless(
    r"(?:\b(?:answer|verdict|output|result|response|conclusion|submission|incorrect|error|wrong|correction"
    r"|corrected\s\w{1,12})(?:\s(?:is|reads|was|in|sentence|line)){0,3}\s{0,2}[:.!>=-]{0,3}"
    r"|\b(?:sentence|line|error)\s(?:is|reads|was)(?:\sin)?:?)$",
)
LABELLED = re.compile(
    rf"\b(?:(?:final\s)?(?:answer|verdict|conclusion)|(?<=so\s)final(?=:))(?:\sis:?|\swould\sbe|:|\s?=>?"
    rf"|\s-)\s{{0,12}}(?:{SENTENCE_WORD}\s{{1,2}})?{NUMBER}",
    re.IGNORECASE,
)
CLAUSE_END = re.compile(r"[,;:]\s|\b(?:but|so|therefore|thus|hence|and)\b", re.IGNORECASE)
REFERENCE_PATTERN = compile_caseless(REFERENCE)
FINE = re.compile(
    r"\b(?:is|are|was|looks|seems|appears)\s(?:\w{1,20}\s){0,2}?(?:correct|fine|accurate|right|okay?"
    r"|appropriate|plausible|acceptable)\b",
    re.IGNORECASE,
)
CALLS_WRONG = compile_caseless(
    r"\b(?:error|wrong|incorrect|inaccurate|mistake|erroneous|problem|replace|change|should\s(?:read|be|say)"
    r"|instead|write|corrected|correction)\b",
)
PROMPT = re.compile(r"^[^\S\n]{0,4}Clinical\snote:[^\S\n]{0,4}\n", re.MULTILINE)
# A base model goes on with another note or question of its own.
NEXT_TASK = re.compile(
    r"^\s{0,6}(?:(?:next\s|new\s|clinical\s)?note(?:\s\d{1,3})?\s?:?\s{0,4}\n(?=\s{0,4}0\s)|(?:follow-?up\s)?(?:exercise|question|example|task)\s\d{1,3}\s?[:.])",
    re.MULTILINE | re.IGNORECASE,
)
PROMPT_END = re.compile(r"^[^\S\n]{0,4}Answer:", re.MULTILINE)


# "0 The patient is well. - CORRECT"
STATUS_BEHIND = re.compile(
    r"(?:[\s.]{0,2}(?:[(\[:=>→-]|->){1,2}\s{0,2}|\s{2,3})'?(?:(?P<fine>CORRECT|OK|FINE|TRUE|RIGHT|[✓✔✅☑])|(?P<wrong>INCORRECT|WRONG|ERROR|FALSE|[✗❌✘]))"
    r"[\s.)\]✓✔✅❌✗]{0,4}$"
)
AFTER_QUOTED_ERROR = re.compile(
    rf"[\"'\s,]{{0,3}}(?:(?:is|was|contains|has|seems|looks|appears)\s(?:(?!not\b|no\b)\w{{1,12}}\s){{0,3}}?{WRONG_WORD}"
    rf"|(?:is|was|does)\s?{NOT_RIGHT}|(?:should|must|needs\sto|has\sto|ought\sto)\s(?:instead\s)?(?:be|read|say|state)\b|-+>|→)",
    re.IGNORECASE,
)
BEFORE_QUOTED_ERROR = re.compile(
    r"\b(?:replace|change|correct|instead\sof|rather\sthan|not)\s{1,2}[\"']?$", re.IGNORECASE
)
SHORT_QUOTE = re.compile(r"\"([^\"\n]{4,120})\"|(?<!\w)'([^'\n]{4,120})'(?!\w)")
NUMBER_IN_TEXT = re.compile(r"(?:[.!?:]|\n)\s{1,3}(\d{1,4})\s{1,2}(?=[A-Z\d])")
NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        (
            *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
            *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
            *("twenty", "twenty-one", "twenty-two", "twenty-three", "twenty-four", "twenty-five", "twenty-six"),
            *("twenty-seven", "twenty-eight", "twenty-nine", "thirty"),
        )
    )
}  # fmt: skip
NUMBER_IN_WORDS = compile_caseless(
    rf"\b(?P<before>{SENTENCE_WORD}\s(?:id\s|number\s|no\.\s)?|(?:wrong|incorrect|erroneous|faulty|altered)\s(?:one|entry|id)\sis\s)"
    rf"(?P<word>{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})\b",
)
PLACE_IN_WORDS = compile_caseless(
    r"\b(?P<place>first|opening|very\sfirst|last|final|closing|very\slast|penultimate|second-to-last)\s(?P<sentence>sentence|line|statement)\b"
    r"(?!\s(?:of(?!\s(?:the|this|your)\s(?:\w{1,12}\s)?(?:note|text|vignette|record|case|report)\b)|in|about|mention))",
)


# Words of the note that the text calls wrong or replaces, without quotation marks.
_OLD = r"(?P<old>[\w%/.'’-]{2,40}(?:\s[\w%/.'’-]{1,40}){0,6}?)"
_NEW = r"(?P<new>[\w%/.'’-]{2,40}(?:\s[\w%/.'’-]{1,40}){0,6})"
_AT_CLAUSE = r"(?:^|[.!?;:\n]\s{0,3}|\bthe\s|\bthat\s)"
REPLACED_WORDS = (
    _build_statement(
        "replace|change|swap|substitute",
        rf"\b(?:replac|chang|swap)(?:e|p|ed|ing)?\s{_OLD}\s(?:with|by|for|to|into)\s(?:an?\s|the\s)?{_NEW}",
    ),
    _build_statement(
        "should|must|ought",
        rf"{_AT_CLAUSE}{_OLD}\s(?:should|must|ought\sto)\s(?:really\s|instead\s|actually\s)?(?:have\sbeen|be|read|say)\s"
        rf"(?:an?\s|the\s)?{_NEW}",
    ),
    _build_statement("->|=>|→|➜", rf"(?:^|\n)\W{{0,4}}{_OLD}\s?(?:->|=>|→|➜)\s?{_NEW}"),
    _build_statement(
        "is wrong|is incorrect|is the wrong|is inaccurate|is erroneous|is the error|is contraindicated|is clearly"
        "|was wrong|is an error|can't be right|cannot be right|makes no sense",
        rf"{_AT_CLAUSE}{_OLD}\s(?:(?:is|was)\s(?:clearly\s|definitely\s|simply\s)?(?:the\s|an\s)?{WRONG_WORD}|can(?:'t|not)\sbe\s(?:right|correct)\b|makes\sno\ssense\b)",
    ),
    _build_statement(
        "instead of|rather than|, not ",
        rf"\b(?P<from>should|must|ought\sto)\b[^.!?\n]{{1,120}}?(?:,\snot|,?\s(?:instead\sof|rather\sthan))\s(?:an?\s|the\s)?{_OLD}(?=[.,;!\n)]|\s(?:as|because|since|which)\b|\Z)",
    ),
    _build_statement(
        "instead of|rather than|not ",
        rf"\b(?P<from>instead\sof|rather\sthan)\s(?:an?\s|the\s)?{_OLD},[^.!?\n]{{3,100}}\b(?:should|must|ought)\b",
    ),
)
# "It is trichomoniasis, not bacterial vaginosis." of a short answer
CONTRASTED_WORDS = (
    _build_statement(
        "not |instead of|rather than",
        rf"(?:^|[.!?;:\n]\s{{0,3}}|\b(?:has|is|it's|means)\s){_NEW},?\s(?P<from>not|instead\sof|rather\sthan)\s{_OLD}(?=[.,;!\n)]|\Z)",
    ),
)
_SENTENCE_CALLED = r"(?:sentence|line|statement)"
DESCRIBED_SENTENCE = (
    _build_statement(
        "sentence|line|statement",
        rf"\bthe\s{_SENTENCE_CALLED}\s(?:about|on|with|stating|saying|mentioning|naming|that\s(?:says|mentions|names|begins\swith)"
        rf"|starting\swith|beginning\swith)\s(?:the\s|an?\s)?{_OLD}\s(?:in\sit\s)?(?:is|contains|has)\s(?:(?!not\b|no\b)\w{{1,12}}\s){{0,2}}?{WRONG_WORD}",
    ),
    _build_statement(
        "sentence|line|statement",
        rf"\bthe\s{_OLD}\s{_SENTENCE_CALLED}\s(?:is|contains|has|that(?:'s|\sis))\s(?:(?!not\b|no\b)\w{{1,12}}\s){{0,3}}?{WRONG_WORD}",
    ),
    _build_statement(
        "sentence|line|statement|one",
        rf"\b(?:wrong|incorrect|erroneous|faulty|altered)\s(?:sentence|line|statement|one)\sis\sthe\s(?:one|sentence|line)\s"
        rf"(?:about|with|on|mentioning|that\s(?:says|mentions|names)|where)\s(?:the\s|an?\s)?{_OLD}(?=[.,;!\n)]|\Z)",
    ),
    _build_statement(
        "sentence|line|statement",
        rf"\b(?:error|mistake)\sis\sin\sthe\s{_SENTENCE_CALLED}\s(?:about|with|on|mentioning|that\s(?:says|mentions|names)|where)\s"
        rf"(?:the\s|an?\s)?{_OLD}(?=[.,;!\n)]|\Z)",
    ),
)
WORDS_BEFORE_NAME = re.compile(
    r"(?:(?:the|an?|this|that)\s)?(?:(?:diagnosis|use|dose|choice|prescription|administration)\sof\s)?(?:the\s|an?\s)?",
    re.IGNORECASE,
)
# Words that do not tell one sentence from the others.
GENERAL_WORDS = re.compile(
    r"(?:(?:the|this|his|her|their|your|first|second|third|last|only|next|final|whole|entire|rest|given|drug|correct|right)\s){0,2}"
    r"(?:patients?|wom[ae]n|m[ae]n|child|infant|boy|girl|note|sentence|line|answer|text|treatment|therapy|diagnosis|management"
    r"|medications?|drugs?|dose|dosage|doctor|physician|history|exam(?:ination)?|findings?|symptoms?|symptom|presentation"
    r"|statement|everything|nothing|something|which|there|first|second|third|last|final|correction|version|condition|disease"
    r"|choice|of\schoice|clinical|picture|word|value|number|others?|following|above|below)",
    re.IGNORECASE,
)
# A line that is a sentence, perhaps behind a bullet or a caption: "+ The dose is 5 mg.", "Should read: The dose ..."
BULLETED_LINE = re.compile(
    r"^[^\w\n\"']{0,8}(?:[A-Za-z][a-z ]{1,30}:\s{1,3})?(?P<text>[^\W\d_][^\n]{15,1500})$",
    re.MULTILINE,
)


QUOTED = re.compile(
    r"\"([^\"\n]{8,1500})\"|(?<!\w)'([^'\n]{8,1500}(?:'\w[^'\n]{1,200}){0,5})'(?!\w)"
)
CORRECTED = re.compile(
    r"\b(?:correct(?:ed|ion)|revised|fixed|new|rewritten)(?:\s(?:sentence|line|version|text"
    r"|statement))?(?:\s(?:is|reads|to|would\sbe|should\sbe"
    r"|should\sread))?\s{0,2}[:>=-]{1,2}\s{0,4}([^\n]{8,1500})",
    re.IGNORECASE,
)


WHOLE = re.compile(
    r"\s{0,9}(?P<verdict>[<\[(\"'*`]{0,3}CORRECT[>\])\"'*`]{0,3}"
    r"|(?P<number>\d{1,4})[.:]? [A-Z][a-z]* [\w ,.()%/+'-]{1,600})\.?\s{0,9}"
)
_WORDS_OF_MORE = (
    *("correct", "wrong", "error", "mistake", "sentence", "line", "note", "guess", "wait", "hold on", "scratch"),
    *("disregard", "ignore", "thought", "look", "mind", "reconsider", "think", "sure", "actually", "misread"),
    *("should", "instead", "remain", "because", "since", "not ", "Normal", "Consistent", "Accurate", "Valid"),
    *("Right", "Good", "Fine", "No "),
)  # fmt: skip
_GOES_ON = re.compile(r"CORRECT[^>\])\"'*`]")


def says_more(answer: str, sentence: str) -> bool:
    """Return whether an answer in the form that was asked for has words by which it may say more.

    Args:
        answer: the answer.
        sentence: the sentence of the note that the answer names, whose own words say no more; "" if it names none.
    """
    for word in _WORDS_OF_MORE:
        if word in answer and word not in sentence:
            return True
    if "CORRECT" not in answer:
        return False
    # "10 The dose is 5 mg. CORRECT" names a sentence and calls the note right.
    return _GOES_ON.search(answer) is not None or not answer.strip(" \n.<>[](){}\"'*`").startswith(
        "CORRECT"
    )


# "Either the note is CORRECT, or sentence 6 is wrong", "if the effusion is large, the note is correct. If not, ..."
_UNDECIDED = re.compile(
    r"\beither\b[^.\n]{0,80}\b(?:correct|right|fine)\b[^.\n]{0,30}\bor\b"
    r"|\bif\b[^.\n]{0,200}\b(?:note|it|this)\sis\s(?:correct|right|fine)\b[^\n]{0,30}\bif\snot\b"
    r"|\bit\sdepends\son\b[^.\n]{0,200}\bcorrect\b",
    re.IGNORECASE,
)
_WORDS_OF_CHOICE = ("ither ", "if not", "If not", "depends")


def is_undecided(answer: str) -> bool:
    """Return whether an answer offers two verdicts, or makes its verdict depend on something."""
    if not any(map(answer.__contains__, _WORDS_OF_CHOICE)):
        return False
    return _UNDECIDED.search(answer) is not None
