"""Read a sentence of another language that ends with an option in brackets: "Se usa aquí (opción B).". Pure.

The words around the letter need not be known: what counts is that the sentence is neither denied nor conditional nor a
question in one of the languages of `agent/reading/languages`, and that no other option is named.
"""

import re
from collections.abc import Iterator
from itertools import islice

from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.rules import STATED_ANSWER
from agent.reading.statements import is_question

_MAX_LETTERS = 20
_WORDS = (
    r"(?:opción|respuesta|alternativa|inciso|antwort|lösung|réponse|proposition|opzione|risposta|opção|resposta|optie|antwoord"
    r"|odpowiedź|opcja|вариант|ответ|alternativ|svar|seçenek|şık|选项|答案|選択肢|보기|정답|विकल्प|الخيار)"
)
_BRACKETED = re.compile(
    rf"[(\[](?:la\s|die\s|a\s|het\s)?{_WORDS}:?\s?(?P<letter>[a-j])[)\]](?=\s?(?:[.!]|$|\n))",
    re.IGNORECASE,
)
_ANY_LETTER = re.compile(r"(?<![\w'-])(?:[B-J](?![\w'-])|A(?=[).,:;]))")
FOREIGN_DENIAL = re.compile(
    r"\b(?:nicht|kein\w{0,2}|falsch\w{0,2}|wäre|würde|wenn|falls|incorrect[oa]s?|fals[oa]s?|errone[oa]|errónea|errado|errada|sería|podría|contraindicad[oa]"
    r"|faux|fausse|serait|pourrait|n'est|ne|pas|sbagliat\w|sarebbe|potrebbe|controindicat\w|não|seria|poderia|niet|geen|fout|zou"
    r"|nie|nieprawidłow\w{1,2}|byłoby|не|нет|неверн\w{1,2}|если|inte|fel|değil|yanlış)\b|不|错|誤|ない|아니|틀린|नहीं|ليس"
)
"""Words that deny a sentence or make it conditional in other languages than English."""
_DENIAL = re.compile(
    r"\b(?:no|non|nunca|mai|jamais|nie|nooit|si\s(?:la|le|el|les|fuera|hubiera|elle|il)|se\s(?:fosse|il|la|houvesse|for|o|a)|salvo|excepto|sauf|außer|menos|peor|weniger)\b"
)


def read_bracketed_letters(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Yield the claim of the only letter that stands in brackets behind a word for "option" of another language."""
    if "(" not in answer.plain and "[" not in answer.plain:
        return
    found = list(islice(_BRACKETED.finditer(answer.plain), _MAX_LETTERS))
    if not found or len({match["letter"].upper() for match in found}) > 1:
        return
    match = found[-1]
    start = answer.find_sentence_start(match.start())
    sentence = answer.plain[start : match.start()].lower()
    if FOREIGN_DENIAL.search(sentence) or _DENIAL.search(sentence):
        return
    others = {
        letter[0].upper() for letter in islice(_ANY_LETTER.finditer(answer.plain), _MAX_LETTERS)
    }
    if others - {match["letter"].upper()} or is_question(answer.plain, match.end()):
        return
    if answer.plain[start : match.start()].lstrip().startswith("¿"):
        return
    option = answer.options.get_letter_option(match["letter"])
    yield OptionClaim(option, start, match.end(), ClaimStrength.PROPOSED, STATED_ANSWER)
