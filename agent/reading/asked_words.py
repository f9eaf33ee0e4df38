"""Word lists and patterns around the name of a quantity that an answer states the value of. Data."""

import re

MOST_CRITERIA = 15

# "GCS12", "Child-Pugh A5", "Child-Pugh B (7)"
ATTACHED = re.compile(r" ?(?:(?:class )?[ABC][ -]?\(?(?=\d))?(\d{1,3})(?![\w%]|[.,/:+-]\d)")
NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
IN_WORDS = re.compile(
    r"(?: (?:score|criteria|rule|index))?(?: (?:is|of|equals|comes to|score)|:| =)"
    rf" ({'|'.join(NUMBER_WORDS)})(?= points?\b|[.,;:)!\n]|$)",
    re.IGNORECASE,
)
# A label at the end of its line; the value stands in the next.
END_OF_LABEL = re.compile(
    r"(?: ?\([^()\n]{1,30}\))?(?: score| value| index| date)?(?P<mark> ?[:=]| is:?)?\n{1,2}(?! ?[-+•◦])",
    re.IGNORECASE,
)
EQUALS = re.compile(r"(?:[=≈≅→⇒]|->)[ ≈~$(]{0,4}$")
# A calculation follows: "137 - (116 + 12.1)"
COMPUTES_ON = re.compile(
    r" ?(?:\([^()\n]{1,40}\) ?)?(?:[-+*/×÷^] ?[\d(√]|[A-Za-z/%]{1,10} ?[-+×÷*] ?[\d(])"
)

_LINKS = (
    r"(?:\b(?:is|was|are|be|equals?|equal to|of|at|to|as|gives?|giving|yields?|remains|becomes|totals?|totall?ing"
    r"|comes?|came|works? out|turns out|score[sd]?|stands|falls on|on|around|about|approximately|approx\.?|roughly"
    r"|would be|will be|therefore|thus|hence|so|then|calculated|estimated|rounded|found"
    r"|es|est|ist|beträgt|liegt bei|lautet|ergibt|sind|war|fue|son|sont|è|é|sono|vale|será|sera|serait|wäre|de"
    r"|di|da|le"
    r"|el|il|den|der|am|auf|von|bei|wynosi|bedraagt|är|составляет|равен|равна)\b"
    r"|[:=≈≅→⇒~]|->|は|が|为|為|是|約|约|等于|约为|이|은|는)"
)
_FILLER = (
    r"(?:\b(?:is|was|be|us|a|an|the|of|at|to|as|out|up|on|approximately|approx\.?|about|around|roughly|nearly"
    r"|just|only"
    r"|exactly|now|therefore|thus|hence|then|also|equal|estimated|calculated|total|totals?|score|scored|sum"
    r"|value|result"
    r"|final|overall|corrected|date|dated|simply|à|el|le|la|il|den|der|am|de|di|los|ungefähr|etwa|environ|circa"
    r"|aproximadamente"
    r"|points?|patient's|be|it|day|1st)\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
    r"|[\s≈~($\"'*:=,>-])"
)
_BARE = re.compile(
    r"(?:[\s:=≈~→$*\"'>|-]|->|\(|\b(?:score|index|value|points?|total|result|rule|criteria|count|formula|number"
    r"|met|level"
    r"|concentration|interval|date|puntos|total|equation|dose|dosage|rate|approximately|about|ca\.?|approx\.?"
    r"|スコア|score)\b"
    r"|スコア|评分|点数|指数|得分|は|が|为|為|是|約|约|:|\([^()\d\n]{1,40}\)|\[[^\[\]\d\n]{1,30}\]){0,12}",
    re.IGNORECASE,
)
_LINKED = re.compile(rf"[^.;=<>≤≥?!\n]{{0,90}}?{_LINKS}{_FILLER}{{0,10}}", re.IGNORECASE)
_BREAKS = re.compile(
    r"\b(?:if|unless|than|thresholds?|cut-?offs?|ranges?|normal|reference|risks?|mortality|survival|stroke rate"
    r"|class|stage|grade|above|below|under|over|between|minus|plus|divided|times|multiplied|subtract\w*"
    r"|add(?:ed|ing)?"
    r"|maximum|minimum|max|min|should|would have|could|might|may|not|n't|category|each|per|whether|or|from|either"
    r"|point for|points for|threshold|requires?|needs?|assigns?|awards?|because|since|where|which|whose|who"
    r"|weight|height|creatinine|albumin|age|aged|years?|male|female|heart rate|cycle|before|after|until|by adding)\b"
    r"|[<>≤≥±]|\d",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\([^()\n]{0,60}\)")
# Names of these may contain words that otherwise break a statement: "maintenance rate per hour is".
_HARMLESS = re.compile(
    r"\bon or (?:about|around)\b|\bwould be\b|\bper (?:hour|day|os|minute)\b|\bby (?:the )?(?:[A-Z][\w-]+|20\d\d)\b"
    r"|\bfor (?:this|the) (?:patient|wom[ae]n|man)\b|\bMay\b|\b20\d\d\b|\b4-2-1\b|\bof (?:prednisolone|morphine)\b",
)
# The parts of a score, or what it was computed from: "3 (hypertension 1, age 65-74 1, female 1)".
COMPONENTS = re.compile(
    r"(?: ?points?)? ?[(\[](?![^()\n]{0,300}\b(?:or|if|vs|versus|otherwise|alternatively)\b)[^()\n]{1,300}[)\]]",
    re.IGNORECASE,
)
# What explains a count or score: ": one for fever and one for a heart rate of 104".
BEHIND_COLON = re.compile(r"[^\d,;:\n]{0,60}: ?(?![\d <>≥≤])|[^\d,;:\n]{0,60}: (?=[^\W\d])")
MAXIMUM_BEFORE = re.compile(
    r"\b(?:sur|von|su|de|of|out of|over|des|dei|av)(?: (?:the|les|los|a total of))? $|/ ?$",
    re.IGNORECASE,
)
# Brackets that offer another value.
OFFERS = re.compile(r"\b(?:or|if|vs|versus|otherwise|alternatively|ou|oder|o)\b", re.IGNORECASE)
SIGN_BEFORE = re.compile(
    r"(?:[<>≤≥]=?|\b(?:than|at least|at most|above|below|under|over|up to|before|after)) ?$",
    re.IGNORECASE,
)
# "3.72 (Grenzwert 2.67)"
REFERENCE_BEFORE = re.compile(
    r"\b(?:cut-?off|threshold|reference|normal|Grenzwert|Schwellenwert|Normalwert|Referenz|seuil|umbral|soglia"
    r"|limite|límite|limiar|drempel\w*)\b[^.;:=\d\n]{0,15}$",
    re.IGNORECASE,
)
EQUALS_SIGN = re.compile(r"[=≈≅→⇒]|->")
CALCULATION = re.compile(
    r"(?:[^,;\n]{0,80}[-+*/×÷·^√(x][^,;\n]{0,80}\d[^,;\n]{0,60}"
    r"|[^,;\n]{0,80}\d[^,;\n]{0,60}[-+*/×÷·^√(x][^,;\n]{0,80}"
    r"| ?[-~$]{0,2}\d[\d.,]{0,15} ?[A-Za-z/%]{0,10} ?)"
)
BEGINS_FORMULA = re.compile(r"[ ^+⁺*_]{0,4}(?:\([^()\n]{1,30}\) ?)?(?:=|≈)(?! ?[-+~$(]{0,2}[\d.])")
PART_OF_FORMULA = re.compile(r"[,;] (?:with |where |and )?(?P<name>[A-Za-z][\w ]{0,20}?) ?=")
TOTALS = re.compile(
    r"(?:[=→⇒]|->|\b(?:total|sum|makes|gives|altogether|in all|so|thus|hence)\b)[^.;\d\n]{0,15}$",
    re.IGNORECASE,
)
# Brackets that explain a count: "(age 61, SaO2 88%)", but not "(5 with age)" or "(modified: 4)".
EXPLAINS_COUNT = re.compile(
    r"[A-Za-z](?!.*\b(?:modified|adjusted|corrected|total|scores?)\b)", re.IGNORECASE
)
# Brackets about what the value was computed from or is compared with: "(the patient's actual weight is 54 kg)".
ABOUT_INPUT = re.compile(
    r"(?:(?:the |this )?patient's|his|her|their|compared (?:to|with)|versus|vs\.?) "
    r"(?:(?:the |an? |his |her )?(?:actual|current|real|given|measured|present|true) )",
    re.IGNORECASE,
)
# Another method's name directly behind a value: "441 ms (Bazett)".
METHOD_BEHIND = re.compile(
    r" ?(?:[A-Za-z/%]{1,8} ?)?(?:\(|\b(?:by|per|using|with|according to|via)\b)[^()\d.,;\n]{0,20}",
    re.IGNORECASE,
)
# A comment that compares or interprets the value.
COMMENTS = re.compile(
    r"[^.;\n]{0,80}\b(?:above|below|over|under|exceed\w*|beyond|within|limits?|thresholds?|bands?|class|risks?"
    r"|survival"
    r"|mortality|range|corresponding|corresponds|indicat\w*|suggest\w*|moderate|severe|mild|elevated|because|since|as"
    r"|with|given|from|rounded|using|based|low|high|normal|average|minim[ao]|massimo|máximo|Risiko|riesgo"
    r"|risque|rischio|risco"
    r"|remain\w*|until|left|match\w*|measured|i\.e|equivalent|equals?|replac\w*|instead|than|at most|at least"
    r"|to be|per|every|which|that is a|что"
    r"|соответствует|lo que|was einem|ce qui)\b",
    re.IGNORECASE,
)


def leads_to_value(gap: str) -> bool:
    """Return whether the words between a name and a value state the value: " score is", ": ", " comes out to "."""
    if _BARE.fullmatch(gap):
        return True
    words = _HARMLESS.sub("is", _BRACKETED.sub("", gap))
    if _BREAKS.search(words):
        return False
    return _LINKED.fullmatch(words) is not None


# Between a value and the name behind it: "211 mg of oral", "3 (of 8)".
UNIT_GAP = re.compile(
    r"(?: ?/ ?\d| ?\(?of (?:the )?(?:\d|eight|four)\)?)?(?: ?(?:mg|mcg|g|points?|pts?|of|the|oral|po|iv|oral dose of"
    r"|intravenous|por vía oral|de|di|von|an|per os|out of|total|positive)\b){0,5} ?",
    re.IGNORECASE,
)
# The dose that the patient takes, or a table of equivalent doses.
GIVEN = re.compile(
    r"\b(?:takes?|taking|receiv\w+|given|prescribed|each|per|every|tablet|equivalence|table|relative|if|any"
    r"|at least|two or more|or more)\b|\d ?m?c?g [a-z]{4,} ?[=≈:]|[=≈] ?\d+(?:\.\d+)? ?m?c?g [a-z]",
    re.IGNORECASE,
)
# "The LDL target is 70 mg/dL."
LIMIT_OF = re.compile(
    r" ?(?:score )?(?:targets?|goals?|thresholds?|cut-?offs?|limits?|maximum|minimum|ranges?)\b",
    re.IGNORECASE,
)
# What a statement about another case begins with.
OTHER_CASE = re.compile(
    r"\W{0,5}(?:if|when|unless|had|suppose|for (?:comparison|reference|example|instance|women|men)"
    r"|for (?:patients|an?\b)|in (?:comparison|general|women|men|patients|healthy|other)"
    r"|by comparison|compared|patients with|those with|e\.g"
    r"|(?:a |the )?(?:previous|prior|earlier|last|old) |patients who|those who|people who"
    r"|note that an?\b|question|what\b|posted\b|re:)",
    re.IGNORECASE,
)
# What another method, weight or unit gives: "With actual body weight it would be 62.5".
WOULD = re.compile(
    r"\b(?:would|might|could) (?:have )?(?:be|been|give|given|make|come|yield|result|get|amount)\b|'d (?:get|be"
    r"|give|have)\b",
    re.IGNORECASE,
)
# Words directly before a name that make it another one's: "his previous CHA2DS2-VASc", "a normal anion gap".
QUALIFIED = re.compile(
    r"\b(?:previous|prior|earlier|old|normal|typical|expected|usual|average|mean|median|maximum|minimum|max|min"
    r"|highest"
    r"|lowest|possible|target|baseline|initial|uncorrected|unadjusted|measured|reference|threshold|cut-?off"
    r"|limit|range"
    r"|reported|stated|published|other|another|his (?:brother|father)'s|her (?:sister|mother)'s|not (?:the|a)|no"
    r"|without|(?:calculate|compute|determine|find|get|obtain|work out|estimate|derive|need|answers|adjust|assign)"
    r" (?:the |an? |his |her |this )?(?:patient's )?)"
    r"[\s*\"'(]{0,3}(?:serum |patient's |the )?$"
    r"|\b(?<!patient's )(?:scores?|values?|levels?|results?) (?:of|in|for|on) (?:the )?$",
    re.IGNORECASE,
)
GENERAL = re.compile(
    r"(?:^|[.;:,\n(] ?|\b(?:that|with|have|having|and|of) )(?:an?|any|every|each) $", re.IGNORECASE
)
GENERAL_BEHIND = re.compile(
    r"[^.,;:\n]{0,25}\b(?:indicates?|corresponds?|suggests?|means?|is|are|carries|predicts?|or|has|have|was"
    r"|would|usually"
    r"|typically|places?|puts?|warrants?|rules?|defines?|represents?|equates?)\b",
    re.IGNORECASE,
)
LIMIT_BEHIND = re.compile(
    r" ?(?:items|components|variables|questions|parameters|elements)\b"
    r"| ?(?:[A-Za-z/%]{1,8} )?(?:points? )?(?:or (?:more|less|higher|greater|above|below|lower|fewer)"
    r"|and (?:above|below|over|up)|to \d|points? (?:for|if|each)\b|\+(?!\d)"
    r"|is (?:the |a )?(?:cut|thresh|limit|max|min|upper|lower|considered|normal|usually|the usual))",
    re.IGNORECASE,
)
CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|consequently|accordingly|overall|finally|final|in (?:total|summary|conclusion"
    r"|short)|so"
    r"|result|answer|conclusion|i (?:make|get|report|would|'d)|corrected|adjusted|total"
    r"|also|somit|daher|folglich|demnach|insgesamt|ergebnis|antwort|donc|ainsi|au total|réponse|résultat|por lo tanto"
    r"|por tanto|en total|entonces|así|respuesta|resultado|quindi|dunque|pertanto|in totale|risposta|risultato"
    r"|portanto"
    r"|logo|no total|resposta|dus|zatem)\b|∴|итого|ответ|따라서|よって|したがって|従って|合計|因此|所以|总分|答案|答え",
    re.IGNORECASE,
)
