r"""Dates, ages over 89, and for stricter policies relative dates and other ages, in English clinical text.

Only dates that are more precise than a year are detected (45 CFR 164.514(b)(2)(i)(C)). Ages over 89 are detected, and
so are years of birth that reveal such an age.
"""

from agent.redaction.rules.rulebook import ANYWHERE, CODE, WORDS, Digits, Rule

_MONTH = r"(?:\L<months>|\L<months_in_short>)(?!\p{L})\.?"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_DAY_WORD = (
    r"(?:\L<ordinals>|\L<teens>th|twentieth|thirtieth"
    r"|(?:twenty|thirty)[- ]?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth))"
)
_YEAR = r"(?:(?:19|20)\d\d(?!\d)|'\d\d(?!\d))"
_YEAR_IN_WORDS = (
    r"(?:(?:nineteen|twenty)[- ](?:(?:oh|hundred)|(?:ten|eleven|twelve|\L<teens>"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty))(?:[- ]\L<one_to_nine>)?"
    r"|two thousand(?: (?:and )?[a-z]{3,9}(?:[- ]\L<one_to_nine>)?)?)"
)
_CLOCK = (
    r"(?:[T ,@]{1,3}(?:at )?\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?[ap]\.?m\b\.?)?(?:Z\b|[+-]\d\d:?\d\d)?"
    r"|[T ,@]{1,3}(?:at )?\d{4} ?(?:hrs?|hours|h)\b)?"
)
_NOT_IN_WORD = r"(?<![\w/.])(?<!\d-)"
_NOT_ON = r"(?![\w/%]|[.-]\d)"
_NUMERIC = (
    r"(?:(?:19|20)\d\d(?P<a>[-/.])(?:1[0-2]|0?[1-9])(?P=a)(?:3[01]|[12]\d|0?[1-9])"
    r"|(?:3[01]|[12]\d|0?[1-9])(?P<b>[-/.])(?:3[01]|[12]\d|0?[1-9])(?P=b)(?:(?:19|20)\d\d|\d\d))"
)
# A range of dates, whose second date would otherwise directly follow a hyphen.
_RANGE = (
    r"(?: {0,2}(?:-|to|through|thru|until|and) {0,2}(?:(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}"
    r"|\d{1,2}[-/.]\d{1,2}(?:[-/.](?:19|20)?\d\d)?)(?!\d))?"
)

_ROMAN = r"(?:XI{0,2}|I{1,3}|IV|VI{0,3}|IX)"
_HOLIDAY = r"(?i:\L<holidays>)(?!'?s? (?:disease|factor|tree|palsy))"
_WEEKDAY = r"\L<weekdays_in_short>(?!\p{L})\.?"

_COUNTED_DAY = r"(?:(?:twenty|thirty)[- ]\L<one_to_nine>|\L<teens>|twenty|thirty|\L<one_to_nine>|ten|eleven|twelve)"
_OTHER_MONTH = (
    r"\L<months_of_other_calendars>(?:[ -](?:al-?\p{L}{3,10}|ii?|sheni|rishon|bet|aleph))?(?!\p{L})"
)

_DATES = (
    Rule(  # Hebrew, Islamic and Persian calendars
        "DATE",
        Digits(1, 2, "A a"),
        rf"(?i)(?<![\w./-])(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)? (?:of )?{_OTHER_MONTH}(?:,? 1?[345]\d{{3}}\b)?",
    ),
    Rule(
        "DATE",
        WORDS,
        rf"(?i){_OTHER_MONTH} (?:3[01]|[12]\d|0?[1-9])(?!\w|[.,]\d)(?:,? 1?[345]\d{{3}}\b)?",
    ),
    Rule("DATE", Digits(1, 2, "A"), r"\d{1,2}年 ?\d{1,2}月(?: ?\d{1,2}日)?"),
    Rule(
        "DATE",
        WORDS,
        rf"(?i)(?!may\b|march\b|mar\b){_MONTH} (?:the )?{_COUNTED_DAY}\b(?:,? {_YEAR_IN_WORDS})?",
    ),
    Rule(
        "DATE",
        WORDS,
        rf"(?i)(?:may|march) (?:the )?\L<teens>\b(?:,? {_YEAR_IN_WORDS})?",
    ),
    Rule("DATE", Digits(1, 4, "/-."), rf"{_NOT_IN_WORD}{_NUMERIC}(?!\d|[/-]\d){_CLOCK}{_RANGE}"),
    Rule("DATE", Digits(1, 4, "/-."), rf"{_NOT_IN_WORD}{_NUMERIC}(?=-){_CLOCK}{_RANGE}"),
    Rule(
        "DATE", Digits(1, 2, "-/"), rf"{_NOT_IN_WORD}(?:1[0-2]|0?[1-9])[-/](?:19|20)\d\d{_NOT_ON}"
    ),
    Rule(
        "DATE",
        Digits(4, 4, "-"),
        rf"{_NOT_IN_WORD}(?:19|20)\d\d-(?:1[0-2]|0[1-9]|W[0-5]\d(?:-\d)?){_NOT_ON}",
    ),
    Rule(
        "DATE",
        Digits(1, 2, " A-/.a"),
        rf"(?i)(?<![\w./-]){_DAY}(?: (?:day )?(?:of )?|[-/.]){_MONTH}(?:[ ,/-]{{1,3}}(?:of )?{_YEAR})?"
        rf"(?![\w]){_CLOCK}(?: ?- ?{_DAY}[ -]{_MONTH}(?:[ ,/-]{{1,3}}{_YEAR})?)?",
    ),
    Rule(
        "DATE",
        Digits(1, 2, " A-/.a"),
        rf"(?i)(?<![\w./-]){_DAY}[-/. ]?{_MONTH}[-/. ]?(?:\d{{4}}|\d\d)(?![\w]){_CLOCK}",
    ),
    Rule(
        "DATE",
        Digits(1, 2, " A.a"),
        rf"(?i)(?<![\w./-]){_DAY}\.? (?:de )?\L<months_abroad> (?:del? )?(?:19|20)\d\d\b",
    ),
    Rule(
        "DATE",
        Digits(1, 2, "A./-"),
        rf"(?<![\w./-])(?:3[01]|[12]\d|0?[1-9])[. /-]{{1,2}}{_ROMAN}[. /-]{{1,2}}(?:19|20)\d\d\b",
    ),
    Rule(  # "8.ix.21"
        "DATE",
        Digits(1, 2, "."),
        r"(?<![\w./-])(?:3[01]|[12]\d|0?[1-9])\.(?:i{1,3}|iv|vi{0,3}|ix|xi{0,2})\.(?:(?:19|20)\d\d|\d\d)(?![\w.])",
    ),
    Rule(  # "27 / 12 / 22"
        "DATE",
        Digits(1, 2, " "),
        r"(?<![\w./-])(?=\d{1,2} / \d{1,2} / (?:19|20)\d\d|(?:1[3-9]|[23]\d) |\d{1,2} / (?:1[3-9]|[23]\d))"
        r"(?:3[01]|[12]\d|0?[1-9]) / (?:3[01]|[12]\d|0?[1-9]) / (?:19|20)?\d\d(?![\w./%-]| ?/)",
    ),
    Rule("DATE", Digits(4, 4, "Aa9"), r"(?<![\d.-])(?:19|20)\d\d ?(?:Q[1-4]|[1-4]Q)\b"),
    Rule("DATE", Digits(4, 4, "a"), r"(?i)(?:19|20)\d\d年\d{1,2}月(?:\d{1,2}日)?"),
    Rule("DATE", CODE, rf"(?i)(?<![\w./-]){_MONTH}[-/]?(?:(?:19|20)\d\d|\d\d)(?!\w)"),
    Rule(
        "DATE",
        WORDS,
        rf"(?i){_MONTH} ?(?:the )?{_DAY}(?!\w)(?: ?(?:-|to|and|through) ?(?:{_MONTH} )?{_DAY}(?!\w))?"
        rf"(?:,? {{1,2}}{_YEAR}|,? {{1,2}}(?=\d\d:)|)(?!\d){_CLOCK}",
    ),
    Rule(
        "DATE", WORDS, rf"(?i){_MONTH} (?:the )?{_DAY_WORD}\b(?:,? (?:{_YEAR}|{_YEAR_IN_WORDS}))?"
    ),
    Rule(  # "ninth of the fourth, seventy-one", as spoken
        "DATE",
        WORDS,
        rf"(?i){_DAY_WORD} of (?:the )?(?:\L<ordinals>),? (?:of )?(?:{_YEAR}|{_YEAR_IN_WORDS}"
        r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[- ]\L<one_to_nine>)?(?! ?(?:percent|mg|units?)\b))",
    ),
    Rule(  # "13-16 May"
        "DATE",
        Digits(1, 2, "-"),
        rf"(?i)(?<![\w./-]){_DAY} ?[-–] ?{_DAY} {_MONTH}(?!\p{{L}})(?:,? {_YEAR})?",
    ),
    Rule(  # "monday the twentieth"
        "DATE",
        WORDS,
        rf"(?i)\L<weekdays>,? the (?:{_DAY_WORD}|{_DAY}(?:st|nd|rd|th))(?!\w)(?: of {_MONTH}(?!\p{{L}}))?",
    ),
    Rule(  # "DSA neg in oct": months in small letters that are no other word
        "DATE",
        WORDS,
        r"(?<=(?<!\p{L})(?:in|since|last|by|until|til|till|from|this|next|early|late|mid|every|thru) )"
        r"(?:jan|feb|apr|aug|sept?|oct|nov|dec)(?![\p{L}\d-])",
    ),
    Rule(  # "eyes ok at April slit lamp"
        "DATE",
        WORDS,
        r"(?<=\b(?i:at|for|the|his|her|my|our|your|their) )(?:January|February|April|June|July|September|October"
        r"|November|December)\b(?! (?:\p{Lu}|and \p{Lu}|effect|phenomenon))",
    ),
    Rule("DATE", WORDS, rf"(?i){_MONTH}[ ,/-]{{0,3}}(?:of )?{_YEAR}"),
    Rule("DATE", WORDS, rf"{_MONTH},? (?:of )?{_YEAR_IN_WORDS}\b"),
    Rule("DATE", WORDS, rf"(?i){_MONTH}-\d{{1,2}}-(?:\d{{4}}|\d\d)\b"),
    Rule(
        "DATE",
        WORDS,
        r"(?<=\b(?i:in|since|until|till|by|during|last|this|next|early|late|mid|from|through|before|after|every|end of"
        r"|beginning of|middle of|start of|to|and|between|month of|around|of)[ -])"
        r"(?:\L<months>|(?!Mar\b)\L<months_in_short>|\L<months_in_small_letters>)\b(?! (?:\p{Lu}|law\b|madness\b))\.?",
    ),
    Rule(
        "DATE",
        WORDS,
        rf"(?i)(?:the )?\K{_DAY_WORD} (?:day )?(?:of|in) {_MONTH}(?:,? (?:{_YEAR}|{_YEAR_IN_WORDS}))?",
    ),
    Rule("DATE", WORDS, rf"(?i)(?:first|second|third|fourth) quarter (?:of |in )?{_YEAR}"),
    Rule("DATE", CODE, rf"(?<!\w)Q[1-4](?: of|,|/|-)? ?{_YEAR}"),
    Rule(
        "DATE",
        WORDS,
        rf"(?i)(?:spring|summer|fall|autumn|winter),? (?:of |in )?{_YEAR}",
    ),
    Rule(
        "DATE",
        WORDS,
        rf"(?i)(?:early|mid|late|(?:beginning|middle|end) of)[ -](?:spring |summer |fall |autumn |winter ){_YEAR}",
    ),
    Rule(
        "DATE",
        WORDS,
        rf"{_HOLIDAY}(?:,? (?:of )?{_YEAR})?",
    ),
    Rule(
        "DATE",
        WORDS,
        r"(?i)(?:DOB|D\.O\.B\.?|DOD|DOS|DOA|LMP|EDD|EDC|(?:date of|birth ?|admit |admission |discharge )(?:birth|death"
        r"|service|admission|discharge|surgery|visit|injury|collection|onset|date|issue|expiry)|birthda(?:te|y)|date"
        r"|born(?: on)?|expir(?:es|y)|exp)(?: (?:is|was|of))?[: #.=-]{1,4}\K"
        r"(?:\d{1,4}[ ./-]{1,2}\d{1,2}[ ./-]{1,2}\d{2,4}|\d{8}|\d{6}|\d{1,2}[/-]\d{2,4})(?![\w-])",
    ),
    Rule(
        "DATE",
        WORDS,
        rf"{_WEEKDAY},? (?:the )?\K(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)\b",
    ),
)

_OVER_89 = (
    r"(?:nine?ty(?:[- ]?\L<one_to_nine>(?:st|nd|rd|th)?)?"
    r"|(?:a|one) hundred(?:[- ](?:and[- ])?(?:\L<one_to_nine>|ten|eleven|twelve))?)"
)
_YEARS_OLD = (
    r"[ -]{0,2}(?:(?:years?|yrs?|yo|y\.o\.|y/?o)(?:[ -]?olds?)?(?:[mf](?!\p{L}))?(?!\p{L})"
    r"(?! (?:ago|later|earlier|before|after|apart|history|of (?!age\b)"
    r"|follow|survival|in (?:a|the) row))"
    r"|years?'? of age|y(?:[mf])?(?=[ ,.;)/]|$)|(?<! )(?-i:[MF])(?=[ ,.;)/]|$)"
    r"|(?-i:[MF])(?= (?:with|who|presents|presenting|c/o|s/p|here|adm)\b)"
    r"|/(?-i:[MF])(?![\w/])"
    r"| (?:male|female|man|woman|lady|gentleman)\b"
    r"(?! (?:patients|subjects|controls|adults|mice|rats)|,? (?:and )?\d))"
)
# People whose age may follow "is": not their pulse or saturation.
_PERSON = (
    r"(?:(?:he|she|who|i|you|(?:the )?(?:patient|pt|client|resident)|\L<relatives>|grandpa|grandma|nan|nana)"
    r"(?: is| was|'s|'m| am| turns| turned| will be| would be| just turned)|he's|she's)"
    r"(?: (?:now|almost|nearly|about|already|only|just|actually))?"
)
_YEAR_OF_90_YEARS_AGO = r"(?:18\d\d|19[0-2]\d|193[0-6])"
_NOT_COMPARED = (
    r"(?<!\b(?:over|above|beyond|than|least|most|to|of|under"
    r"|below|until|past|next|last|first|for) )(?<![\d.<>=≥≤+-])"
)
_AGES = (
    Rule(
        "AGE",
        Digits(2, 3, "aA -/"),
        rf"(?i){_NOT_COMPARED}(?<![<>≥≤] |\d,)(?<!\d ?[-–] ?)\K(?:9\d|1[0-3]\d)(?={_YEARS_OLD})",
    ),
    Rule(
        "AGE",
        Digits(2, 3, " -"),
        r"(?i)(?<=\b(?:age[ds]?|aged?(?: of)?|of) )(?:9\d|1[0-3]\d)(?=[- ]years?[- ]old| yo\b)",
    ),
    Rule(
        "AGE",
        WORDS,
        r"(?i)(?:(?:live[sd]?|living|survived|made it) (?:to|until|till)(?: be| see| age| the age of)?"
        r"|(?:die[sd]|passed(?: away)?|deceased|alive|expired|dead) (?:at|@)(?: age| the age of)?) \K"
        rf"(?:(?:9\d|1[0-2]\d)\b(?!\.\d|[%/:-]\d|%)|{_OVER_89}\b)"
        r"(?! ?(?:%|days?|weeks?|months?|hours?|hrs?|h\b|minutes?|min\b|degrees|beats|bpm))",
    ),
    Rule(  # "Mrs Enid Fothergill is 97 and"
        "AGE",
        WORDS,
        r"(?:Mr|Mrs|Ms|Miss|Mx)\.? (?:\p{Lu}[\p{L}'’.-]{0,20} ){1,3}is (?:now )?\K(?:9\d|1[01]\d)"
        r"(?=[,.;]? (?:and|who|with|lives|old|but)\b|[,.;]|$)(?!\.\d)",
    ),
    Rule(  # "MGM alive, 91, unaffected"
        "AGE",
        WORDS,
        r"(?i)(?:mgm|mgf|pgm|pgf|gma|gpa|grandma|grandpa|grand(?:mother|father)|nana?|mother|father|mum|mom|dad"
        r"|aunt(?:ie|y)?|uncle|husband|wife|sister|brother)(?: (?:alive|living|well|died|dead|deceased|d\.|is))?,? "
        r"\K(?:9\d|1[01]\d)(?=[,.;)]|$|\n| (?:and|alive|well|healthy|with|w/|lives)\b)(?![.,]\d)",
    ),
    Rule(  # "Mr. Holloway, 91, of Duluth"
        "AGE",
        Digits(2, 3, ","),
        r"(?<=\p{Lu}[\p{L}'’-]{0,20}\p{Ll}, )(?:9\d|1[01]\d)(?=, (?:of|from|who|whose|an?|presents|presented|lives"
        r"|living|resides|resident|admitted|seen|retired|married|widowed|single|comes|came|complains)\b)",
    ),
    Rule(
        "AGE",
        Digits(2, 3, "A ,.)*"),
        r"(?i)(?<=\bturn(?:ed|s|ing)? )(?:9\d|1[0-3]\d)\b(?! ?(?:degrees|°|%))",
    ),
    Rule(
        "AGE",
        Digits(2, 3, "a"),
        r"(?i)(?:9\d|1[0-3]\d)(?:th|st|nd|rd)(?= birthday| year of (?:life|age))",
    ),
    Rule(
        "AGE",
        Digits(2, 2, ",.)*"),
        r"(?i)(?<=\b(?:man|woman|lady|gentleman|male|female|mother|father|widow|widower),? )9\d(?=[,.;)])",
    ),
    Rule(
        "AGE",
        WORDS,
        r"(?i)age[ds]?(?: of| is| was| at \w{4,12})?[ :=(/-]{1,3}\K(?:9\d|1[0-3]\d)\b(?!\.\d|[%/]| ?(?:cm|kg|mm"
        r"|m)\b| ?(?:and"
        r"|or) (?:over|older|above)"
        r"|\+)",
    ),
    Rule(
        "AGE",
        WORDS,
        rf"(?i)(?<!\b(?:over|than|least|most) ){_OVER_89}(?=[ -](?:years?|yrs?)[ -](?:olds?|of age)|-year"
        r"|[ -](?:yo|y/o)\b)",
    ),
    Rule(  # "DOB/Age: 10/10/1933 / 90", "Sex/Age: F / 91", "Date of birth/age   11-Nov-1929 / 94"
        "AGE",
        WORDS,
        r"(?i)(?:dob|d\.o\.b\.?|date of birth|birth ?date|sex|gender) ?/ ?age[ \t]{0,4}[:.]?[ \t]{0,4}"
        r"(?:[\d./-]{6,10}|\d{1,2}[ -]\p{L}{3,9}[ -]\d{2,4}|[MF]|male|female)[ \t]{0,3}[/(,][ \t]{0,3}\K(?:9\d|1[01]\d)"
        r"(?![\w%/.]|\.\d)",
    ),
    Rule(  # "in his 93rd year", "in her ninety-seventh year"
        "AGE",
        WORDS,
        r"(?i)in (?:his|her|their|my) \K(?:(?:9\d|1[01]\d)(?:th|st|nd|rd)|ninet(?:ieth|y-(?:first"
        r"|second|third|fourth|fifth"
        r"|sixth|seventh|eighth|ninth)))(?= year(?!s))(?: year)",
    ),
    Rule(  # "she'll be 95 in May"
        "AGE",
        WORDS,
        r"(?i)(?:he|she|they|who|pt|patient)(?:['’]ll| will) be \K(?:9\d|1[01]\d)(?= (?:in|on|next"
        r"|this|come|soon)(?!\p{L})|[.,;])",
    ),
    Rule(  # "a spry 96"
        "AGE",
        WORDS,
        r"(?i)(?:a|an) (?:very )?(?:spry|sprightly|frail|lively|remarkable|robust|independent|active"
        r"|hale|fit|young|grand"
        r"|venerable|feisty) \K(?:9\d|1[01]\d)(?![\w%/]|[.,]\d| ?(?:mm|cm|kg|mg|ml|bpm|beats))",
    ),
    Rule(  # "94 F from a nursing home" at the start of a line
        "AGE",
        ANYWHERE,
        r"(?m)^[ \t>*-]{0,4}\K(?:9\d|1[01]\d) [MFmf](?= (?:from|with|w/|adm|c/o|p/w|lives|living"
        r"|presents|presented|brought|bib)(?!\p{L}))",
        (" f ", " m "),
    ),
    Rule(  # "Age/Sex: 93/F"
        "AGE",
        WORDS,
        r"(?i)age(?: ?/ ?(?:sex|gender))?[ \t]{0,4}[:.]?[ \t]{0,4}\K(?:9\d|1[01]\d)(?=[ \t]?/[ "
        r"\t]?(?:[MF]|male|female)(?!\p{L}))",
    ),
    Rule(  # "pt is 93, lives with her niece"
        "AGE",
        WORDS,
        rf"(?i){_PERSON} \K(?:(?:9\d|1[01]\d)(?![.,]\d|[\w%/:-])|{_OVER_89}\b)"
        r"(?=\s{0,2}(?:[,.;:!?)]|$|\n)| (?:and|but|now|with|who|today|this|next|in|yet|so)\b"
        r"(?! (?:a half|over|\L<teens>|\p{L}{3,6}ty)\b))",
    ),
    Rule(  # "PMR, 90 this year"
        "AGE",
        Digits(2, 3, " "),
        r"(?i)(?<=(?:[,;(] ?|\b(?:is|be|turns?|turning) ))(?:9\d|1[01]\d)"
        r"(?= (?:this|next|last) (?:year|month|week|spring|summer|fall|autumn|winter|\L<months>)\b)",
    ),
    Rule(  # "Last year, at 100, she still sang"
        "AGE",
        Digits(2, 3, ", A"),
        r"(?i)(?<=(?:[,;.(] |^|\b(?:and|still|even|now) )at )(?:9\d|1[01]\d)(?=,? (?:s?he|they|the patient)\b)",
    ),
    Rule(  # "DOB 14.06.28 (95)"
        "AGE",
        WORDS,
        r"(?i)(?:dob|d\.o\.b\.?|born|birth(?:date)?)[: ]{1,3}\d[\d./ -]{4,10}\d ?[(]\K(?:9\d|1[01]\d)(?=[)])",
    ),
    Rule(  # "Wife Theodora, 90, at bedside"
        "AGE",
        Digits(2, 3, ",.);"),
        r"(?<=\b(?i:\L<relatives>|\L<titles_in_short>)\.? (?:\p{Lu}[\p{L}'-]{1,20} ){0,2}\p{Lu}[\p{L}'-]{1,20},? [(]?)"
        r"(?:9\d|1[01]\d)(?=[,.;)](?!\d))",
    ),
    Rule(  # "F/93"
        "AGE", Digits(2, 3, "A ,.)*"), r"(?<=(?<![\w/-])[MF] ?/ ?)(?:9\d|1[01]\d)(?![\w/%.-])"
    ),
    Rule(  # "granny Odile who is 94"
        "AGE",
        WORDS,
        r"(?i)(?:who(?: is|'s|’s)|(?:he|she)(?:'s|’s)) \K(?:9\d|1[01]\d)(?=\s{0,2}[,.;!)\n](?!\d)|$"
        r"| (?:and|but|now|with|lives|picked|came|has|today)\b)",
    ),
    Rule(  # a year of birth that reveals such an age
        "AGE",
        WORDS,
        r"(?i)(?:born|b(?=\.)|n[ée]e?|birth ?year|(?:year|yr) of birth|YOB|DOB)\b\.?"
        r"(?: (?:is|was|in|on|about|around|circa|ca?\.?|the year)){0,2}[: (]{1,3}\K"
        rf"(?:{_YEAR_OF_90_YEARS_AGO}(?![-/.]?\d)|['’](?:2[7-9]|3[0-6])(?!\w))",
    ),
    Rule("AGE", WORDS, rf"(?i)(?:aged?(?: of)?|turned) \K{_OVER_89}(?![\w-])"),
    Rule(
        "AGE",
        WORDS,
        r"(?i)(?:ninetieth|ninety-\w{5,7}(?:st|nd|rd|th)|(?:one )?hundredth)(?= birthday)",
    ),
    Rule(
        "AGE",
        WORDS,
        r"(?i)in (?:his|her|their|my|your|the) (?:early |mid |late |mid-|upper )?\K(?:(?:9|10|11)0'?s|nineties)\b",
    ),
    Rule(
        "AGE",
        WORDS,
        r"(?i)(?:nonagenarian|(?:super)?centenarian)s?\b",
    ),
)

_YOUNGER = (
    r"(?:(?:twen|thir|for|fif|six|seven|eigh)ty(?:[- ]?\L<one_to_nine>)?"
    r"|\L<teens>|\L<one_to_nine>|ten|eleven|twelve)"
)
_OTHER_AGES = (
    Rule(
        "AGE_BELOW_90",
        Digits(1, 3, "a A-.9"),
        r"(?i)(?<![\d.])\d{1,3}(?:\.\d)?(?: ?(?:-|to) ?\d{1,2})?"
        r"(?=[ -]{0,2}(?:(?:years?|yrs?|months?|mos?|weeks?|wks?|days?)[ -](?:old|of age)|y/?o|y\.o\.|m/o|yo[mf]?)\b)",
    ),
    Rule(
        "AGE_BELOW_90",
        Digits(1, 2, "a A-"),
        r"(?<![\d.])[1-8]?\d(?=[ -]?(?:M|F|yoM|yoF|y)\b(?!\w)[ ,.;)/])",
    ),
    Rule(
        "AGE_BELOW_90",
        Digits(1, 2),
        r"(?i)(?<=\bturn(?:ed|s|ing)? )[1-8]?\d\b(?! ?(?:degrees|°|%))",
    ),
    Rule("AGE_BELOW_90", Digits(1, 2, "a"), r"(?i)[1-8]?\d(?:th|st|nd|rd)(?= birthday)"),
    Rule(
        "AGE_BELOW_90",
        Digits(1, 2, ",.) *"),
        r"(?i)(?<=\b(?:I am|I'm|he is|she is|he's|she's|man|woman|boy|girl|male|female),? )[1-8]?\d(?=[,.;)]"
        r"| and\b| now\b)",
    ),
    Rule(
        "AGE_BELOW_90",
        WORDS,
        r"(?i)age[ds]?(?: of| is| was| at \w{4,12})?[ :=(]{1,3}\K\d{1,2}(?:\.\d)?\b(?!\.\d|[%/])",
    ),
    Rule(
        "AGE_BELOW_90",
        WORDS,
        rf"(?i){_YOUNGER}(?=[ -](?:years?|months?|weeks?|days?)[ -](?:old|of age))",
    ),
    Rule("AGE_BELOW_90", WORDS, rf"(?i)(?:aged?(?: of)?|turned) \K{_YOUNGER}(?![\w-])"),
    Rule(
        "AGE_BELOW_90",
        WORDS,
        r"(?i)in (?:his|her|their|my|your) (?:early |mid |late |mid-|upper )?\K(?:[1-8]0'?s|teens|(?:twen|thir"
        r"|for|fif|six"
        r"|seven|eigh)ties)\b",
    ),
    Rule(
        "AGE_BELOW_90",
        WORDS,
        r"(?i)(?:teenage[rd]?|newborn|neonate|infant|toddler|(?:quadra|quinqua|sexa|septua|octo)genarian)s?\b",
    ),
)

_COUNT = (
    r"(?:\d{1,3}|an?|\L<one_to_nine>|ten|eleven|twelve|several|few|couple(?: of)?"
    r"|some|many)"
)
_PERIOD = r"(?:hours?|hrs?|days?|nights?|weeks?|wks?|weekends?|months?|mos?|quarters?|years?|yrs?|decades?)"
_AGO = (
    rf"{_COUNT}(?: (?:and a half|or (?:two|so|three)|more))? {_PERIOD}(?:'s?)? (?:ago|back|prior|earlier|later"
    rf"|before|from now|hence|previously)\b"
)
_RELATIVE = (
    Rule("RELATIVE_DATE", Digits(1, 3, " A"), rf"(?i)(?<![\d.,/-]){_AGO}"),
    Rule(
        "RELATIVE_DATE",
        WORDS,
        rf"(?i){_AGO}",
    ),
    Rule(
        "RELATIVE_DATE",
        WORDS,
        r"(?i)(?:the day (?:before|after) )?(?:yesterday|today|tomorrow|tonight)"
        r"(?:'s)?(?: (?:morning|afternoon|evening|night))?\b",
    ),
    Rule(
        "RELATIVE_DATE",
        WORDS,
        rf"(?i)(?:last|next|this|past|previous|coming|following|earlier this|later this|that)"
        rf" (?:{_COUNT} )?(?:{_PERIOD}|spring|summer|fall|autumn|winter|morning|afternoon|evening|semester"
        rf"|mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thurs?(?:day)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)\b",
    ),
    Rule(
        "RELATIVE_DATE",
        WORDS,
        r"(?i)\L<weekdays>s?(?: (?:morning|afternoon|evening|night))?\b",
    ),
    Rule(
        "RELATIVE_DATE",
        WORDS,
        r"(?i)(?:POD|HD|(?:hospital|post-?op(?:erative)?|ICU) day) ?#? ?\d{1,3}\b",
    ),
    Rule(
        "RELATIVE_DATE",
        WORDS,
        rf"(?i)(?:with)?in \K(?:the (?:last|next|past) )?{_COUNT} {_PERIOD}\b",
    ),
    Rule(
        "RELATIVE_DATE",
        WORDS,
        rf"(?i)(?:for|over|past|since)(?: the)?(?: (?:last|past|next))? \K{_COUNT} {_PERIOD}\b",
    ),
)

RULES = (*_DATES, *_AGES, *_OTHER_AGES, *_RELATIVE)
