r"""Contact details and network addresses: telephone, fax, pager, e-mail, web pages and host names."""

from agent.redaction.rules.rulebook import WORDS, Digits, Rule, Signs

_MAILBOX = r"[\w.!#$%&'*+/=?^`{|}~-]"
_EXTENSION = r"(?:,? ?(?:x|ext\b\.?|extn\b\.?|extension) ?:?\d{1,6})?"
_PATH = r"(?:(?::\d{2,5})?[/?#][^\s<>\"'\])]{0,2000})?"
# Top-level domains: those that are not words, and those that are words, for which a second dot is required.
_DOMAIN = r"(?<=(?<![@\w.-])(?P<since>[a-z\d](?:[\w-]{0,62}\.)"
_CALLED = (
    r"(?:phone|tel(?:ephone)?|cell(?:phone| phone)?|mobile|landline|fax|page(?:rs?|d)|beeper|contact|call(?:ed|ing"
    r"|s)?|dial(?:ed|ling)?"
    r"|reach(?:ed|able)?(?: (?:him|her|me|us|them|you))?(?: (?:at|on))?|text(?:ed)?|whatsapp|signal|sms|ring|rang"
    r"|voicemail|hotline|(?-i:P[hH](?=[.:]))|tty|telefax|(?-i:[PTFCM])(?=[:.] ?[+(\d]))"
)

RULES = (
    Rule(
        "PHONE",
        Digits(3, 3, "). -/9A"),
        r"(?<=(?<![\w.-])(?P<since>(?:\+?1[ .-]{0,2})?\(?))\d{3}(?:\)[ .-]{0,2}|[ .-]{1,2}|/ ?)\d{3}[ .-]\d{4}"
        rf"{_EXTENSION}(?![\d-])",
    ),
    Rule(
        "PHONE",
        Digits(1, 6, ") .-9/"),
        rf"(?<=[+(])(?=[1-9](?:[ .()/-]{{0,3}}\d){{6}})(?<=(?<![\w.-])(?P<since>\+\(?))\d{{1,3}}\)?(?:[ .-]{{0,2}}\(?"
        rf"\d{{1,4}}\)?[/-]?){{2,7}}"
        rf"{_EXTENSION}(?![\w])",
    ),
    Rule(
        "PHONE",
        Digits(3, 5, "9.- "),
        rf"(?<![\w.-])00[1-9]\d{{0,2}}(?:[ .-]\(?\d{{1,4}}\)?){{2,6}}{_EXTENSION}(?![\w-])",
    ),
    Rule("PHONE", Digits(1, 1, "-"), r"(?<![\w.,/-])1-\d{3}-\d{3}-\d{4}(?![\w-])"),
    Rule(
        "PHONE",
        Digits(1, 3, "-9.A"),
        r"(?<![\w.-])(?:1[ .-])?8(?:00|33|44|55|66|77|88)[ .-](?=[A-Z\d-]{0,8}[A-Z])[A-Z\d]{2,8}(?:-[A-Z\d]{1,8}"
        r"){0,2}\b",
    ),
    Rule(
        "PHONE",
        WORDS,
        rf"(?i)(?<!\b(?:blood|cancer|stem|T|B|mast|sickle|nucleated|tumor|red|white|plasma"
        rf"|per) ){_CALLED}(?:'?s)?(?: (?:number|no\.?|#|line|me|us|him|her|them|back|home|office|work|mobile|phone"
        rf"|cell|the patient)"
        rf"){{0,3}}(?: (?:is|was|at|on|to|via|from|number))?[:.,# ]{{0,3}}\K(?:[(+]{{0,2}}\d(?:(?=(?:[^\d\n]{{0,3}}"
        rf"\d){{6}})[\d ()./-]{{4,18}}\d"
        rf"|\d{{4,7}}){_EXTENSION}(?![\w%])"
        r"(?<!\b(?:19|20)\d\d)(?:(?: or | and |, | / |; )(?=\+?\(?\d[\d ().-]{6,17}\d)\+?\(?\d[\d ().-]{6,17}\d){0,3})",
    ),
    Rule(
        "PHONE",
        Digits(3, 3, "-"),
        rf"(?<![\w./,-])(?<!\d )(?!\d\d0-\d\d00|\d{{3}}-\d000)\d{{3}}-\d{{4}}{_EXTENSION}(?![\w-])(?! ?(?:m[lgm]|g"
        rf"|mcg|U|I?U/|K|/|cm|min|%|kcal|ng|pg|cells|units)(?!\p{{L}}))",
    ),
    Rule(
        "PHONE",
        Digits(3, 7),
        r"(?i)(?<=\b(?:pager|beeper|bleep|paged|ext\.|ext|extn|extension)(?: (?:number|no\.?|is|at"
        r"|on))?[:#. ]{1,3})"
        r"\d{3,7}(?![\w.-]\d|%)\b",
    ),
    Rule(  # an extension: "x 4-2217"
        "PHONE",
        Digits(1, 2, "-"),
        r"(?i)(?<=(?<![\w.])x ?)\d{1,2}-\d{4}(?!\w|[.-]\d| ?(?:m[lg]|mcg|units?)\b)",
    ),
    Rule(
        "PHONE",
        Digits(2, 6, ") ./-9"),
        r"(?=0(?:[^\d\n]{0,2}\d){7})(?!0\d[./ -]\d{1,2}[./ -](?:19|20)\d\d(?!\d))"  # no date
        r"(?<=(?<![\w./,-])(?P<since>\(?))0\d{1,5}\)?(?:[ ./-]{1,2}\d{2,8}){1,5}(?!"
        r"[\w-]|/\d|\.\d)",
    ),
    Rule(
        "PHONE",
        Digits(4, 4, "9"),
        r"(?<![\w.-])[2-9]\d{3} \d{4}(?! ?(?:mg|ml|g|iu|units|\d))(?![\w-]|[.,]\d)",
    ),
    Rule(  # digits one by one: "555 0 1 3 9"
        "PHONE", Digits(3, 3, "9"), r"(?<![\w./-])(?<!\d )\d{3}(?: \d){4,7}(?! ?[\d/%]|\w|[.,]\d)"
    ),
    Rule(
        "EMAIL",
        Signs(("@", "(at)", "[at]", "(AT)", "[AT]", "{at}")),
        rf"(?i)(?<=(?P<since>{_MAILBOX}{{1,256}}) ?)(?:@|[(\[{{]at[)\]}}]) ?[\w-]{{1,63}}"
        r"(?:(?:\.| ?[(\[{]dot[)\]}] ?)[\w-]{1,63}){1,10}",
    ),
    Rule(
        "EMAIL",
        Signs((" at ", " AT ")),
        rf"(?i)(?<=(?P<since>{_MAILBOX}{{2,64}})) at [\w-]{{2,60}}(?:(?: dot |\.)[\w-]{{2,30}}){{0,3}} dot (?:com"
        rf"|org|net|edu|gov|co|uk)\b",
    ),
    Rule(
        "EMAIL",
        Signs((" AT ",)),
        rf"(?<=(?<![\w.])(?P<since>(?=[a-z\d]){_MAILBOX}{{2,64}})) AT [a-z\d][\w-]{{0,60}}"
        r"(?:\.[a-z][\w-]{1,60}){1,6}\b",
    ),
    Rule(
        "URL",
        Signs(("://",)),
        r"(?i)(?<=(?P<since>\b(?:jdbc:)?[a-z][a-z\d+.-]{1,20}))://[^\s<>\"'\])]{1,2000}",
    ),
    Rule(
        "URL", WORDS, r"(?i)www\.[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}(?:[/?#][^\s<>\"'\])]{0,2000})?"
    ),
    Rule(
        "URL",
        WORDS,
        rf"(?i){_DOMAIN}{{1,8}}))\L<top_level_domains>(?![\w@-]|\.\w)(?<!\bClinicalTrials\.gov){_PATH}",
    ),
    Rule("URL", WORDS, rf"{_DOMAIN}{{1,8}}))\L<top_level_domains_abroad>(?![\w@-]|\.\w){_PATH}"),
    Rule("URL", WORDS, rf"{_DOMAIN}{{2,8}}))\L<top_level_domains_of_words>(?![\w@-]|\.\w){_PATH}"),
    Rule(
        "URL", WORDS, rf"{_DOMAIN}{{1}}))\L<top_level_domains_of_words>[/?][^\s<>\"'\])]{{1,2000}}"
    ),
    Rule("URL", Signs(("@",)), r"(?i)(?<![\w@.])@[a-z][\w.]{2,29}\b(?!\.)"),
    Rule("URL", Signs(("\\\\",)), r"\\\\[\w.-]{1,60}(?:\\[\w.$ -]{1,80}){1,12}"),
    Rule(
        "IP",
        Digits(1, 3, "."),
        r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\d]|\.\d)(?:/\d{1,2}\b|:\d{2,5}\b)?",
    ),
    Rule(
        "IP",
        Signs((":",)),
        r"(?i)(?<=(?<![\w:])(?P<since>[0-9a-f]{1,4})):(?:[0-9a-f]{1,4}:){2,6}[0-9a-f]{1,4}(?![\w:])",
    ),
    Rule(
        "IP",
        Signs((":",)),
        r"(?i)(?<=(?<![\w:])(?P<since>[0-9a-f]{1,4})):(?:[0-9a-f]{1,4}:){0,6}:(?:[0-9a-f]{1,4}:?){1,7}(?![\w:])",
    ),
    Rule(
        "IP",
        Signs(("::",)),
        r"(?i)(?<![\w:])::(?:ffff:)?(?:[0-9a-f]{1,4}|(?:\d{1,3}\.){3}\d{1,3})(?![\w:])",
    ),
    Rule(
        "IP",
        Signs((":", "-")),
        r"(?i)(?<=(?<![\w:-])(?P<since>[0-9a-f]{2}))[:-][0-9a-f]{2}(?:[:-][0-9a-f]{2}){4}(?![\w:-])",
    ),
    Rule(
        "IP",
        Signs((".",)),
        r"(?i)(?<=(?<![\w.])(?P<since>[0-9a-f]{4}))\.[0-9a-f]{4}\.[0-9a-f]{4}(?![\w.])",
    ),
)
