r"""What stricter policies take out besides identifiers: sex, family, profession, nationality, origin, religion."""

from agent.redaction.rules.rulebook import WORDS, Digits, Rule

_FAMILY = (
    "mother father mom dad mum mommy daddy parent parents wife husband spouse partner fiance fiancé fiancée"
    " fiancee boyfriend"
    " girlfriend son sons daughter daughters child children sibling siblings brother brothers sister sisters twin twins"
    " stepmother stepfather stepson stepdaughter grandmother grandfather grandma grandpa granddaughter grandson"
    " grandparents grandchild grandchildren aunt uncle niece nephew cousin cousins widow widower widowed married"
    " divorced"
    " fatherinlaw motherinlaw guardian foster adoptive"
)
_PROFESSIONS = (
    "accountant actor actress actuary administrator analyst architect artist astronaut athlete attorney auditor author"
    " baker banker barber barista bartender biologist blacksmith bookkeeper bricklayer broker builder butcher butler"
    " caretaker carpenter cashier chauffeur chef chemist cleaner clergyman clerk coach comedian composer conductor cook"
    " counselor courier dancer dealer dentist designer detective developer diplomat dispatcher diver driver economist"
    " editor electrician engineer entertainer entrepreneur farmer firefighter fisherman florist foreman gardener"
    " geologist"
    " guard hairdresser historian housekeeper housewife instructor interpreter investigator janitor jeweler journalist"
    " judge laborer landscaper lawyer lecturer librarian lifeguard locksmith logger machinist magician maid"
    " mailman manager"
    " marine mason mathematician mechanic merchant miner minister model musician nanny nun officer optician painter"
    " paralegal pastor photographer physicist pilot plumber poet policeman policewoman politician porter priest"
    " principal producer programmer psychologist publisher rancher realtor receptionist reporter retiree roofer sailor"
    " salesman salesperson saleswoman scientist scuba sculptor seamstress secretary senator sheriff singer soldier"
    " songwriter statistician steward stewardess student superintendent supervisor surveyor tailor teacher technician"
    " teller tiler trader trainer translator trucker tutor undertaker upholsterer valet veteran veterinarian waiter"
    " waitress warden weaver welder winemaker writer zoologist"
)
_NATIONS = (
    "afghan albanian algerian american andorran angolan argentine argentinian armenian australian austrian azerbaijani"
    " bahraini bangladeshi belarusian belgian bolivian bosnian brazilian british bulgarian burmese cambodian"
    " cameroonian"
    " canadian chadian chilean chinese colombian congolese croatian cuban cypriot czech danish dane djiboutian"
    " dominican"
    " dutch ecuadorian egyptian emirati english eritrean estonian ethiopian fijian filipino filipina finnish finn"
    " french"
    " gambian georgian german ghanaian greek greenlandic guatemalan guinean guyanese haitian honduran hungarian"
    " icelandic"
    " icelander indian indonesian iranian iraqi irish israeli italian ivorian jamaican japanese jordanian kazakh"
    " kenyan korean"
    " kosovar kurdish kuwaiti kyrgyz lao laotian latvian lebanese liberian libyan lithuanian luxembourgish macedonian"
    " malagasy malawian malaysian maldivian malian maltese mauritanian mexican moldovan mongolian montenegrin moroccan"
    " mozambican namibian nepali nepalese nicaraguan nigerian norwegian omani pakistani palestinian panamanian"
    " paraguayan"
    " persian peruvian polish pole portuguese qatari romanian russian rwandan salvadoran samoan saudi scottish"
    " scot senegalese"
    " serbian singaporean slovak slovene slovenian somali spanish spaniard sudanese surinamese swede swedish"
    " swiss syrian"
    " taiwanese tajik tanzanian thai tibetan togolese trinidadian tunisian turkish turk turkmen ugandan ukrainian"
    " uruguayan"
    " uyghur uzbek venezuelan vietnamese welsh yemeni zambian zimbabwean"
    " caucasian hispanic latino latina latinx asian african arab arabic aboriginal maori inuit cherokee navajo apache"
    " hawaiian roma romani sikh hindu muslim moslem christian catholic protestant baptist methodist lutheran anglican"
    " episcopalian presbyterian mormon jewish jew buddhist jain zoroastrian atheist agnostic pentecostal evangelical"
    " adventist amish mennonite quaker shia sunni ashkenazi sephardic european oriental creole mestizo republican"
    " democrat"
    " liberal conservative libertarian communist socialist"
)


def _plural(words: str) -> str:
    return " ".join(f"{word} {word}s" for word in words.split())


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
    Rule("SEX", Digits(1, 3, "aA -"), r"(?<![\w.])\d{1,3}(?: ?(?:y/?o|yr))? ?-?\K[MF](?=[ ,.;)/]|$)"),
    Rule("SEX", Digits(1, 3, "a "), r"(?i)(?<![\w.])\d{1,3} ?yo\K[mf]\b"),
    Rule("FAMILY", _FAMILY, r"\p{L}{3,20}(?:-in-law)?(?:'s)?\b"),
    Rule(
        "PROFESSION",
        _plural(_PROFESSIONS),
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
    Rule("NATIONALITY", _plural(_NATIONS), r"(?:\p{Lu}[\p{L}]{2,20}(?:-American)?|saudis)\b"),
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
