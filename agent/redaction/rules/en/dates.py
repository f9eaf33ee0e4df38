r"""Dates, ages over 89, and for stricter policies relative dates and other ages, in English clinical text.

Only dates that are more precise than a year are detected (45 CFR 164.514(b)(2)(i)(C)). Ages over 89 are detected, and
so are years of birth that reveal such an age.
"""

from agent.redaction.rules.rulebook import CODE, WORDS, Digits, Rule

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
_DATE_CUE = (
    r"(?:on|since|from|until|till?|before|after|by|dated?|of|as of|DOB|D\.O\.B\.|DOS|DOA|DOD|LMP|EDD|EDC|born"
    r"|visit|seen"
    r"|due|and|to|through|thru|between|around|about|week of|admitted|discharged|admit|discharge|adm|d/c|surgery"
    r"|collected|received|reported|performed|given|last dose|next dose|f/u|follow-?up|appt|appointment)"
)
_NOT_IN_WORD = r"(?<![\w/.])(?<!\d-)"
_NOT_ON = r"(?![\w/%]|[.-]\d)"
_NOT_A_DATE = (
    r"(?! ?(?:mm|cm|mg|mcg|ml|scale|strength|points?|%|mmHg|dose|power|tablets?|of the|(?:min(?:ute)?|hour|hr|day"
    r"|week|wk|month|year|yr|time|beat|patient|case|unit)s?\b|fold|kg|U\b))"
)
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
_HOLIDAY = r"\L<holidays>(?!'?s? (?:disease|factor|tree|palsy))"
_WEEKDAY = r"\L<weekdays_in_short>(?!\p{L})\.?"

_WEEKDAY_BEFORE = r"\b(?:\L<weekdays>|Mon|Tues?|Weds?|Thu(?:rs)?|Fri|Sat|Sun)\.?"

# Events of a day, and the end of a phrase. Between them, two numbers are a month and a day, not a count or a score.
_EVENT = r"(?:\p{L}{2,16}\L<event_endings>|\L<events>|c\d)"
_ENDS = (
    r"(?=\s{0,2}(?:[,.;:)?!]|$|\n)"
    r"| (?:and|at|with|w/|showed|shows|for|by|who|now|was|per|via|but|then|after|due|c/b)\b)"
)
_DAY_AND_MONTH = r"(?:1[0-2]|0?[1-9])/(?:3[01]|[12]\d|0?[1-9])"
_COUNTED_DAY = r"(?:(?:twenty|thirty)[- ]\L<one_to_nine>|\L<teens>|twenty|thirty|\L<one_to_nine>|ten|eleven|twelve)"
_OTHER_MONTH = (
    r"\L<months_of_other_calendars>(?:[ -](?:al-?\p{L}{3,10}|ii?|sheni|rishon|bet|aleph))?(?!\p{L})"
)

_DATES = (
    Rule(  # "s/p Whipple 3/28", "infused 4/1 and 4/15"
        "DATE",
        Digits(1, 2, "/"),
        rf"(?i)(?<=(?<![\p{{L}}]){_EVENT}(?: (?:on|done|again))?[: (]{{1,2}}){_DAY_AND_MONTH}{_NOT_ON}{_ENDS}",
    ),
    Rule(
        "DATE",
        Digits(1, 2, "/"),
        rf"(?i)(?<=(?:s/p|status post|positive for|negative for|h/o|hx of|admitted for|here for)"
        rf" [\w-]{{2,20}}(?: [\w-]{{2,20}})? ){_DAY_AND_MONTH}{_NOT_ON}{_ENDS}",
    ),
    Rule(  # "tomorrow 7/12"
        "DATE",
        Digits(1, 2, "/"),
        rf"(?i)(?<=(?<![\p{{L}}])(?:tomorrow|yesterday|today|tonight|next|(?:last|next|this) (?:week|month|{_WEEKDAY}))"
        rf",?[ (]{{1,2}}){_DAY_AND_MONTH}{_NOT_ON}{_ENDS}",
    ),
    Rule(  # the first of two dates, where the second is certainly a date
        "DATE",
        Digits(1, 2, "/"),
        rf"(?i)(?<![\w/.%=<>~(-])(?<!\d ){_DAY_AND_MONTH}(?= ?(?:and|or|&|,|then|to|-|through) ?"
        rf"(?:1[0-2]|0?[1-9])/(?:1[346-9]|2[234679]|31){_NOT_ON}{_NOT_A_DATE})",
    ),
    Rule(  # the second of two dates, after the same words
        "DATE",
        Digits(1, 2, "/"),
        rf"(?i)(?<=(?<![\p{{L}}]){_EVENT} {_DAY_AND_MONTH} ?(?:and|or|&|,|then|to|-|through) ?)"
        rf"{_DAY_AND_MONTH}{_NOT_ON}{_ENDS}",
    ),
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
        Digits(1, 2, "-/"),
        rf"(?i)(?<=(?<!\w){_DATE_CUE}[: (]{{1,3}})(?!5/5(?!\d))(?<![/\d][45],? (?:and|to) )"
        rf"(?:1[0-2]|0?[1-9])[-/](?:3[01]|[12]\d|0?[1-9])"
        rf"(?:/\d\d(?!\d))?{_NOT_ON}{_NOT_A_DATE}{_RANGE}",
    ),
    Rule(
        "DATE",
        Digits(1, 2, "/"),
        rf"(?i)(?<={_WEEKDAY_BEFORE},? )(?:3[01]|[12]\d|0?[1-9])/(?:3[01]|[12]\d|0?[1-9]){_NOT_ON}",
    ),
    Rule(  # a month and a day that cannot be a score
        "DATE",
        Digits(1, 2, "/"),
        rf"(?<![\w/.%=<>~(-])(?<!\d )(?<!(?i:score|of|scored|grade|strength|vision|acuity|pain|ratio|in|was|only"
        rf"|and|or)[: ]{{1,2}})"
        rf"(?:1[0-2]|0?[1-9])/(?:1[346-9]|2[234679]|31){_NOT_ON}{_NOT_A_DATE}(?! ?\(| of\b| (?:m[ae]n|women"
        rf"|subjects|eyes"
        rf"|nodes|samples|children|infants|participants|respondents|persons|people|studies|tumou?rs)\b)",
    ),
    Rule(  # a line or list item that begins with a date: "3/14: fever"
        "DATE",
        Digits(1, 2, "/"),
        r"(?:^|(?<=^[-*>] )|(?<=\n[ \t]{1,4}))(?!1/[2348]|2/3|3/[45])(?:1[0-2]|0?[1-9])/(?:3[01]|[12]\d"
        r"|0?[1-9])(?=:? [\p{L}(]| -|:)"
        r"(?!:? (?:mm|cm|strength|power|points?))",
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
    Rule("DATE", Digits(4, 4, "Aa9"), r"(?<![\d.-])(?:19|20)\d\d ?(?:Q[1-4]|[1-4]Q)\b"),
    Rule("DATE", Digits(4, 4, "a"), r"(?i)(?:19|20)\d\d年\d{1,2}月(?:\d{1,2}日)?"),
    Rule(  # "on the 14th", not followed by a noun
        "DATE",
        Digits(1, 2, "a"),
        r"(?i)(?<=\b(?:on|by|until|since|before|after) the )(?:3[01]|[12]\d|[1-9])(?:st|nd|rd|th)\b"
        r"(?= of (?:this|last|next|the) month|[.,;:)?!]|\n|$| (?:and|at|for|with|due|because|when|where|she|he"
        r"|they)\b)",
    ),
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
    Rule(  # a year of birth that reveals an age over 89
        "DATE",
        WORDS,
        r"(?i)(?:born in|birth year|year of birth|YOB)(?: is| was)?[: ]{1,2}\K(?:18\d\d|19[0-2]\d|193[0-5])\b",
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
    r"|(?-i:[MF])(?= (?:with|who|presents|presenting|c/o|s/p|here|adm)\b))"
)
_NOT_COMPARED = (
    r"(?<!\b(?:over|above|beyond|than|least|most|to|of|under"
    r"|below|until|past|next|last|first|for) )(?<![\d.<>=≥≤+-])"
)
_AGES = (
    Rule(
        "AGE",
        Digits(2, 3, "aA -"),
        rf"(?i){_NOT_COMPARED}(?<![<>≥≤] )(?<!\d ?[-–] ?)\K(?:9\d|1[0-3]\d)(?={_YEARS_OLD})",
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
        rf"(?i)(?<!\b(?:over|than|least|most) ){_OVER_89}(?=[ -]years?[ -](?:olds?|of age)|-year|[ -](?:yo|y/o)\b)",
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
