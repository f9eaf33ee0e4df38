"""Read short replies that name no option: "It doesn't." to a question of yes or no, "the second one", "number 4"."""

import re
from collections.abc import Iterator

from agent.reading.choice import cues
from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.replies import load_replies
from agent.reading.choice.rules import NAMED_BY_POSITION, WHOLE_ANSWER
from agent.reading.statements import find_last_retraction, is_denied, is_question

_MAX_POSITIONS = 50
# "It doesn't.", "They do differ.", "Short answer: we don't."
_REPLY = re.compile(
    r"""
    (?: (?:short|brief|quick)\s(?:answer|version) \s? [:,-] \s )?
    (?: (?:no|yes)? ,? \s? )
    (?: it | they | he | she | we | there | this | that | these | those )  \s
    (?:
        (?: is | are | was | were | has | have | had | can | could | will | would | should ) (?P<not> n't | \snot )?
      | (?: do | does | did ) (?P<does_not> n't | \snot )? (?: \s (?!not\b|no\b|never\b|only\b) [a-z]{2,20} )?
    )
    (?: \s? [.!]? \Z | (?P<more> \s? [.!;:,] \s .{1,400} ) \Z )
    """,
    re.VERBOSE | re.DOTALL,
)
# "Oui.", "Nein, ...", "Tal vez."
_WORD = r"[^\s\d.,;:!?\"'()-]{2,20}"
_FIRST_WORDS = re.compile(
    rf"[\"'(¡]?(?P<words>{_WORD}(?:[ -]{_WORD}){{0,2}}|[是네예否])[\"')]?"
    r"(?:\s?[.!,;:-]{0,2}\s?\Z|\s?[.!,;:-](?P<more>\s?.{1,400})\Z)",
    re.DOTALL,
)
# "They do. However, the trial was small."
_TURNS = re.compile(
    r"\b(?:but|however|though|although|yet|except|unless|if|only|unclear|unsure|whether|hard|question|inconclusive|conflict\w*|may|might|maybe|not\sin|another"
    r"|yes|no,|while|whereas|(?:it|they|he|she|we|this|that|these|those)\s(?:do|does|did|is|are|was|were)(?:n't|\snot)?\s?(?:[.,;]|$))|\?"
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_WRITTEN_ORDINALS = ("1st", "2nd", "3rd", "4th", "5th")
_ROMAN = ("i", "ii", "iii", "iv", "v")
# "option 2", "number (4)", "option II", "the second one", "the last option".
_POSITION = re.compile(
    rf"""
    [(] (?P<numeral>{"|".join(_ROMAN)}) [)]
    | \b (?: (?: (?:answer\s)? (?:option|choice|alternative|number) \s (?:no\.\s|number:?\s)?
             [(\[]? (?: (?P<digit>[1-5]) | (?P<roman>{"|".join(_ROMAN)}) ) [)\]]? (?![\w%/-]|[.,]\d) )
        | (?: (?P<ordinal>{"|".join((*_ORDINALS, *_WRITTEN_ORDINALS))}|last) \s (?:(?:of\sthe\s)?(?:four|listed)\s)?
              (?: option | one | alternative | (?P<choice>choice) | statement | answer(?:\s(?:option|choice))? ) \b
          | (?: (?<=\bchoose\sthe\s) | (?<=\bpick\sthe\s) | (?<=\bselect\sthe\s) | (?<=\bgo\swith\sthe\s)
              | (?<=\bsettle\son\sthe\s) ) (?P<chosen>{"|".join((*_ORDINALS, "last"))}) (?=\s?[.!]|\s?\Z|\n) )
    )
    """,
    re.VERBOSE,
)
_CONCLUDES_ON = re.compile(r"\b(?:so|hence|thus|therefore)[,:]?\s(?:it(?:'s|\sis)\s)?the\s\Z")
_NUMERAL = re.compile(rf"[(](?:{'|'.join(_ROMAN)})[)]")
_WHOLE_NUMERAL = re.compile(r"[(]?(ii|iii|iv)[).]{0,2}")
_LEADS_TO_POSITION = re.compile(
    r"""
    (?:^|[\n.!?:∴]\s?|\b(?:considering|given|based|overall|therefore|thus|hence|so|consequently|taken|since|because|as)\b[^,.\n]{0,40},\s|\b(?:is|be|matches|corresponds\sto|fits|choose|pick|select|take|with|for|on|say|so|therefore|thus|hence)[,:]?\s|[=>]\s?)
    (?:the\s)? \Z
    """,
    re.VERBOSE,
)
_ENDS_STATEMENT = re.compile(
    rf"\s?(?:$|\n|[.!;:](?=\s|$)|,\s(?!(?:but|however|or|and|though|although|unless|if|when|then|option)\b)|\s(?:{cues.BECAUSE}))"
    r"|(?:,\s[^(),.;:!?\n]{1,60},)?\s(?:is|seems|looks)\s(?:clearly\s|probably\s)?(?:correct|right|best|the\s(?:answer|one\b|correct|best|right))"
    r"|\sit\sis(?=\s?[.!]|$|\n)|\s(?:has\sto|must|should|needs\sto|is\sto)\sbe\s(?:marked|chosen|ticked|selected|picked|circled)\b"
)


def read_short_replies(answer: MarkedAnswer) -> list[OptionClaim]:
    """Return the claims of an answer that names its option neither by letter nor by words."""
    if find_last_retraction(answer.text):
        return []  # one at the beginning takes nothing back: "Hmm, ..."
    return [
        *_read_yes_or_no(answer),
        *_read_foreign_reply(answer),
        *_read_positions(answer),
    ]


def _read_yes_or_no(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read a reply of a pronoun and a verb: "It doesn't." is no, "They do differ." is yes."""
    texts = answer.options.plain_texts
    reply = _REPLY.fullmatch(answer.plain.lower().strip())
    if not reply or not {"yes", "no"} <= set(texts):
        return
    if reply["more"] and _TURNS.search(reply["more"]):
        return
    option = texts.index("no" if reply["not"] or reply["does_not"] else "yes")
    yield OptionClaim(option, 0, len(answer.text), ClaimStrength.MENTIONED, WHOLE_ANSWER)


def _read_foreign_reply(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read an answer that begins with "oui", "nein" or "quizás" and goes on after a comma or a full stop."""
    texts = answer.options.plain_texts
    first = _FIRST_WORDS.match(answer.plain.lower())
    if not first or not {"yes", "no"} <= set(texts):
        return
    meaning = load_replies().get(first["words"])
    if meaning not in texts or (first["more"] and _TURNS.search(first["more"])):
        return
    yield OptionClaim(
        texts.index(meaning), 0, len(first["words"]), ClaimStrength.MENTIONED, WHOLE_ANSWER
    )


def _read_positions(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read the position of an option, which must be called one: a bare number is an option's text."""
    if answer.options.has_numbers:
        return
    whole = _WHOLE_NUMERAL.fullmatch(answer.lower)
    if whole and _ROMAN.index(whole[1]) < answer.options.count:
        end = len(answer.text)
        yield OptionClaim(
            _ROMAN.index(whole[1]), 0, end, ClaimStrength.MENTIONED, NAMED_BY_POSITION
        )
        return
    for number, match in enumerate(_POSITION.finditer(answer.lower)):
        if number > _MAX_POSITIONS:
            return
        start, end = match.span()
        if not _LEADS_TO_POSITION.search(answer.lower, max(0, start - 60), start):
            continue
        if not _ENDS_STATEMENT.match(answer.lower, end):
            continue
        if is_denied(answer.text, start) or is_question(answer.text, end):
            continue
        # "The first choice is heparin" speaks of the treatment.
        if match["choice"] and not _CONCLUDES_ON.search(answer.lower, max(0, start - 30), start):
            continue
        # "(i) It is fast. (ii) It is safe." counts reasons.
        if match["numeral"] and len(_NUMERAL.findall(answer.lower)) > 1:
            continue
        option = _get_option(match, answer.options.count)
        if option is not None:
            yield OptionClaim(option, start, end, ClaimStrength.MENTIONED, NAMED_BY_POSITION)


def _get_option(position: re.Match[str], count: int) -> int | None:
    ordinal = position["ordinal"] or position["chosen"]
    if position["digit"]:
        index = int(position["digit"]) - 1
    elif position["roman"] or position["numeral"]:
        index = _ROMAN.index(position["roman"] or position["numeral"])
    elif ordinal == "last":
        index = count - 1
    elif ordinal in _WRITTEN_ORDINALS:
        index = _WRITTEN_ORDINALS.index(ordinal)
    else:
        index = _ORDINALS.index(ordinal)
    return index if index < count else None
