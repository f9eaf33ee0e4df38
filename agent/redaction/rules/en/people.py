r"""Personal details that only stricter policies redact: sex, family, profession, nationality, origin, religion."""

from agent.redaction.rules.rulebook import WORDS, Digits, Listed, Rule

_PLURAL = ("", "s")

RULES = (
    Rule(
        "SEX",
        WORDS,
        r"(?i)(?:(?:gentle|wo)?m[ae]n|males?|females?|boys?|girls?|lady|s?he|him|hers?|his|himself|herself"
        r"|M(?:rs?|s)|transgender|nonbinary)\b",
    ),
    Rule(
        "SEX",
        WORDS,
        r"(?i)(?:sex|gender)[ :=(]{1,3}\K(?:[MFX]|male|female|man|woman|trans\w{0,12}|non-?binary|other)\b",
    ),
    Rule(
        "SEX", Digits(1, 3, "aA -"), r"(?<![\w.])\d{1,3}(?: ?(?:y/?o|yr))? ?-?\K[MF](?=[ ,.;)/]|$)"
    ),
    Rule("SEX", Digits(1, 3, "a "), r"(?i)(?<![\w.])\d{1,3} ?yo\K[mf]\b"),
    Rule("FAMILY", Listed("family"), r"\p{L}{3,20}(?:-in-law)?(?:'s)?\b"),
    Rule(
        "PROFESSION",
        Listed("professions", _PLURAL),
        r"(?<=(?P<since>(?<![\p{L}])(?i:(?:(?:retired|former|ex|software|civil|truck|bus|taxi|school|police"
        r"|construction|factory|registered"
        r"|high school|office|security|sales|project|technical|graphic|bank|flight|army|navy|social|medical|nurse"
        r"|university"
        r"|college|real estate|delivery|electrical|mechanical|chemical) ){0,2})))\p{L}{3,20}\b",
    ),
    Rule(
        "PROFESSION",
        WORDS,
        r"(?i)(?:work(?:s|ed|ing)|employed|job|occupation|profession|retired)(?: (?:part-time|full-time|currently"
        r"|previously|formerly))?(?: as(?: an?)?|(?: is)?:| from(?: being)? an?)"
        r" {1,2}\K[\p{L}-]{3,30}(?: [\p{L}-]{2,30}){0,2}",
    ),
    Rule(
        "NATIONALITY",
        Listed("nationalities", _PLURAL),
        r"(?:\p{Lu}[\p{L}]{2,20}(?:-American)?|saudis)\b",
    ),
    Rule(
        "NATIONALITY",
        WORDS,
        r"(?i)(?:(?:native|indigenous|african|asian)[- ](?:american|alaskan|hawaiian)s?|alaska natives?"
        r"|pacific islanders?|jehovah'?s witness(?:es)?|latter[- ]day saints?"
        r"|south (?:african|korean|sudanese|asian)s?|north koreans?|sri lankans?|new zealanders?|costa ricans?"
        r"|puerto ricans?|cape verdeans?|(?:black|white)(?= (?:man|woman|male|female|boy|girl|patient"
        r"|american)))\b",
    ),
)
