r"""Addresses of many countries, postal codes, places detected by their context, hospitals, clinics, wards and rooms."""

from agent.redaction.rules.rulebook import CODE, WORDS, Digits, Listed, Rule

_STREET_IN_ONE_WORD = r"\p{Lu}[\p{L}'.-]{1,40}(?:\L<street_endings>|(?<!Bri)gade)"
_UNIT = r"(?:,?\s{1,3}(?:(?i:\L<units_of_houses>|#)(?!\p{L})\.? ?#? ?[\w-]{1,8}|#\w{1,6})){0,2}"
_STATE = r"(?:\L<state_codes>|\L<australian_states>)"
_CAPITALISED = r"(?:\p{Lu}[\p{L}'&-]{0,40}|St\.|Mt\.|Ft\.|\p{Lu}\.|\d{1,3}(?:st|nd|rd|th))"
_LINK = r"(?: (?:of|OF|the|THE|and|AND|&|for|at|in|de|DE|la|LA|del|van|von|der|den|du|des|di|da|do|dos)){1,2}"
_TOWN = rf"(?:{_CAPITALISED}(?:(?:{_LINK})?[ -]{_CAPITALISED}){{0,3}})"
_POST_CODE = (
    r"(?:\d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z][ -]?\d[A-Z]\d|[A-Z]{1,3}-\d{4,5}"
    r"|\d{4} ?[A-Z]{2}|\d{3} ?\d{2}|\d{3}-\d{4}"
    r"|\d{5}-\d{3}|\d{2}-\d{3}|\d{4,6})(?!\w)"
)
# Text that can follow a street: unit, town, state or region, postal code, country, on the same or following lines.
_REST = (
    rf"{_UNIT}(?:,?[ \t]{{0,2}}(?:,\s{{0,3}}|\n[ \t>]{{0,4}}){_TOWN}(?=,|\n| {_STATE}\b| \d|[.;?!)]|$))?"
    rf"(?:\s{{0,3}},?\s{{1,3}}{_STATE}\b\.?)?(?:,?\s{{1,3}}{_POST_CODE})?"
)
_NOT_MEASURED = (
    r"(?! ?(?:mg|mcg|ml|mL|cm|mm|kg|g|units?|IU|years?|yrs?|y/?o|days?|weeks?|months?|hours?|minutes?|mins?"
    r"|patients?|cases|men|women"
    r"|percent|points?|times|doses?|tablets?|cycles|consecutive|x)\b)"
)
_DIRECTION = r"(?:(?:[NSEW]|North|South|East|West|NE|NW|SE|SW)\.? )?"

_ADDRESSES = (
    Rule(
        "ADDRESS",
        Digits(1, 6, "aA-/,9"),
        rf"(?<![\w./])\d{{1,6}}[A-Za-z]?(?:[-/]\d{{1,5}})?,? {_DIRECTION}(?:{_CAPITALISED} ){{1,4}}?\L<streets>(?!"
        rf"[\p{{L}}])\.?"
        rf"(?: (?:[NSEW]|North|South|East|West|NE|NW|SE|SW)\b\.?)?{_REST}",
    ),
    Rule(
        "ADDRESS",
        Digits(1, 6, "A"),
        rf"(?<![\w./])\d{{1,6}} {_DIRECTION}(?:Broadway|Highway \d{{1,4}}|Route \d{{1,4}}|(?:County"
        rf"|State) Road \d{{1,4}}|Avenue [A-Z]|[NSEW]\.? \d{{1,3}}(?:st|nd|rd|th))\b{_REST}",
    ),
    Rule(
        "ADDRESS",
        Digits(1, 6, " A"),
        rf"(?i)(?<![\w./])\d{{1,6}} (?!(?:day|week|month|year|hour|minute|mg|ml"
        rf"|patients?)s?\b)(?:[nsew]\.? )?(?:[a-z]{{2,20}} ){{1,3}}?(?:street|avenue|boulevard|road|lane"
        rf"|drive|court|parkway|terrace|crescent|ave|blvd|rd|ln|pkwy)\b\.?{_REST}",
    ),
    Rule(  # "2290 County Rd 14", "41 state hwy 9"
        "ADDRESS",
        Digits(1, 6, "aA "),
        r"(?i)(?<![\w./])\d{1,6} (?:county|co|cty|state|farm|ranch|forest|old|rural|us|fm|township|twp)\.? "
        rf"(?:rd|road|hwy|highway|route|rte|line|trl|trail) \d{{1,4}}[a-z]?(?![\w%]|[.,]\d){_REST}",
    ),
    Rule(  # "flat 3c, 90 harbour parade", "apt 2, 14 mill mews"
        "ADDRESS",
        WORDS,
        r"(?i)(?:flat|apt\.?|apartment|unit|suite|ste\.?|lot) ?#?\d{1,4}[a-z]?,? \d{1,5}[a-z]?,? (?:[a-z]{3,20} ){1,3}?"
        r"(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|court|ct|parade|mews|esplanade|promenade|terrace|crescent|close|quay"
        r"|gardens|gate|grove|hill|place|pl|row|square|sq|walk|way|wharf|boulevard|blvd)(?![\p{L}\d])",
    ),
    Rule(  # "90 harbour parade"
        "ADDRESS",
        Digits(1, 5, "a "),
        r"(?<![\w./])\d{1,5}[a-z]? (?!(?:day|week|month|year|hour|minute|mg|ml|patient|cm|mm)s?\b)"
        r"(?:\p{Ll}{3,20} ){1,2}(?:parade|mews|esplanade|promenade|quay|crescent)(?![\p{L}\d])",
    ),
    Rule(  # "on w 9th & tulip", "9th nr alder"
        "ADDRESS",
        WORDS,
        r"(?:on|at|near|nr|outside|@) (?:the corner of )?\K(?:(?:[nsew]|north|south|east|west)\.? )?"
        r"\d{1,3}(?:st|nd|rd|th) (?:&|nr|near|/|and|between) \L<street_names>(?![\p{L}\d])",
    ),
    Rule(  # "from the beeches", "not to The Limes"
        "FACILITY",
        WORDS,
        r"(?:from|to|at|in) (?:the|The) \K(?i:\L<houses>)(?![\p{L}'’-])(?! (?:of|tree|and|in)\b)",
    ),
    Rule(  # "st oswalds primary"
        "FACILITY",
        WORDS,
        r"(?i)(?:st\.?|saint) (?!(?:elevation|segment|depression|wave|change)s?\b)\p{L}{4,15}(?:['’]?s)?"
        r" (?:primary|secondary|school|high|infants?|juniors?|academy|college|hospital|hospice|infirmary|church|parish"
        r"|surgery|nursery|preschool|home|manor|house|villa|lodge|ward|unit|clinic|medical|health)(?!\p{L})",
    ),
    Rule(  # "loc 41 tanner's row", "lives alone at 12 quarry bank"
        "ADDRESS",
        WORDS,
        r"(?:[Ll]oc(?:ation)?|scene|addr|address|p/u|pick ?up|drop ?off|staying"
        r"|lives? (?:alone|w/ \p{Ll}+|with \p{Ll}+|there))"
        r"(?: at)?:? {1,2}\K\d{1,5}[a-z]? "
        r"(?!(?:day|week|month|year|hour|minute|min|hr|patient|problem|cm|mm|mg|ml|mile|km|people|other|of)s?\b)"
        r"\p{Ll}[\p{Ll}'’]{2,15}(?: \p{Ll}{2,15})?(?=[,;.]| {2}|\n|$)",
    ),
    Rule(  # "on 9 C wing"
        "FACILITY",
        WORDS,
        r"(?:on|in|at|from|to|off) (?:the )?\K[A-H] [Ww]ing(?![\p{L}\d])",
    ),
    Rule(  # "18 rue des tanneurs"
        "ADDRESS",
        Digits(1, 4, " A,"),
        r"(?i)(?<![\w./])\d{1,4},? (?:rue|calle|rua|via|chemin|avenida|avenue|boulevard) "
        r"(?:(?:de|du|des|del|della|la|las|los|do|dos|da) ){1,2}\p{L}{3,20}(?: \p{Lu}\p{L}{2,20}){0,3}(?!\p{L})",
    ),
    # A number, then a word for a street: "12 rue de la Paix", "9554 62 Rue Gafsa".
    Rule(
        "ADDRESS",
        Digits(1, 6, "aA ,9"),
        rf"(?<![\w./])\d{{1,6}}[a-z]?(?: (?:bis|ter))?(?:,? \d{{1,4}})?,? (?!via )"
        rf"(?i:\L<streets_abroad>) (?:(?:de|la|du|des"
        rf"|del|di|da|do|dos|l'|d'|den|der) ?){{0,3}}{_CAPITALISED}"
        rf"(?: (?:(?:de|la|du|des|del|di|da|do) )?{_CAPITALISED}){{0,4}}{_REST}",
    ),
    Rule(
        "ADDRESS",
        Digits(1, 6, "aA ,9"),
        rf"(?<![\w./])\d{{1,6}}[a-z]?(?:,? \d{{1,4}})?,? (?:{_CAPITALISED} ){{0,3}}{_STREET_IN_ONE_WORD}(?!\p{{L}})(?: "
        rf"\d{{1,4}}"
        rf"[a-z]?(?![\w%]))?{_REST}{_NOT_MEASURED}",
    ),
    # A word for a street, its name, then the number: "Calle de Alcalá 12", "Koskikatu 25", "ul. Długa 7".
    Rule(
        "ADDRESS",
        WORDS,
        rf"(?<=(?P<since>(?:(?<![\w.])\d{{4,6}} )?))\L<streets_abroad> (?:(?:de|la|las|los|el|du|des|del|della|di|da"
        rf"|do|dos|l'|d'|den|der) ?){{0,3}}(?:{_CAPITALISED} ){{1,4}},? ?(?:n[o°º]?\.? ?)?\d{{1,5}}[a-zA-Z]?(?!"
        rf"[\w%]){_REST}{_NOT_MEASURED}",
    ),
    Rule(
        "ADDRESS",
        Digits(1, 5),
        rf"(?<=(?<!\p{{L}})(?P<since>(?:\d{{4,6}} )?(?:{_CAPITALISED} ){{0,2}}{_STREET_IN_ONE_WORD}(?!\p{{L}}),? ?"
        r"(?:u\. )?))"
        rf"\d{{1,5}}[a-zA-Z]?(?![\w%]){_REST}{_NOT_MEASURED}",
    ),
    # A house number followed later by a unit: "5586 Somewhere 31 Apt. 297".
    Rule(
        "ADDRESS",
        Digits(1, 6, "A "),
        rf"(?<![\w./])\d{{1,6}} (?:[\p{{L}}'.-]{{1,30}} ){{1,5}}(?:\d{{1,4}}[.a-z]?)?,?\s{{0,3}}(?i:Apt|Suite|Ste"
        rf"|Apartment|Flat)(?!\p{{L}})\.? ?#?[\w-]{{1,6}}{_REST}",
    ),
    Rule(
        "ADDRESS",
        WORDS,
        rf"(?i)(?:(?:P\.? ?O\.?|post(?: office)?|GPO|private|locked) ?(?:Box|bag) ?#?\d{{1,7}}|(?:PSC|CMR"
        rf"|Unit) \d{{1,5}},? Box \d{{1,6}}|(?:APO|FPO|DPO),? A[AEP] \d{{5}}|(?:postfach|B\.P\."
        rf"|apartado(?: postal)?|casilla) \d{{2,6}})"
        rf"(?-i:{_REST})",
    ),
    Rule(
        "ADDRESS",
        WORDS,
        r"US(?:NS|S|NV) \p{Lu}[\p{L}'-]{1,30}(?: \p{Lu}[\p{L}'-]{1,30})?(?:,?\s{1,3}FPO A[AEP] \d{5})?",
    ),
    Rule(
        "ADDRESS",
        WORDS,
        r"(?i)(?<!\b(?:IP|MAC|mail|web|internet|site) )"
        r"(?:home |mailing |street |current |permanent |residential )?(?:address|addr|residence)(?: is"
        r"| was)?[:;, ]{1,3}(?:is )?\K(?-i:(?=[^\n;]{0,60}\d)[\p{Lu}\d#][^\n;]{4,100}?)(?=\.(?:\s|$)|[;:?\n]|$"
        r"|(?<=\d{5}),? \p{Ll}|,? (?:is|can|does|should|could|would|will|do|how|what|when|please|pls)\b"
        r"| (?:phone|tel|and|with|who|mrn)\b)",
    ),
    Rule(
        "ADDRESS",
        WORDS,
        r"(?i)(?:lives|living|resides?|residing|resident|lived?|dwelling) (?:(?:at|on) (?:(?:apt|apartment|unit"
        r"|flat|house|no\.?) )?\K#?|in (?:apt|apartment|unit|flat|house|no\.?) \K#?)\d[^\n;]{4,80}?(?=\.(?:\s|$)|[:?]"
        r"|(?<=\d{5}),? \p{Ll}|,? (?:is|can|does|should|could|would|will|do|how|what|when|please|pls)\b"
        r"|[;\n]|$| (?:with|and|who|for|since)\b|, (?:and|with"
        r"|who)\b)",
    ),
    Rule(
        "ADDRESS",
        WORDS,
        rf"(?i)(?:corner|intersection) of \K(?-i:{_CAPITALISED}(?: {_CAPITALISED}){{0,3}})(?: and "
        rf"| & )(?-i:{_CAPITALISED}(?: {_CAPITALISED}){{0,3}})",
    ),
    Rule(  # "corner of fifth and main"
        "ADDRESS",
        WORDS,
        r"(?:corner|intersection) of \K(?!(?:the|an?|his|her|each|both|mouth|eye|lip|my)\b)"
        r"[a-z\d]{2,15}(?: [a-z]{2,15})? (?:and|&) "
        r"(?!did\b|the\b|they\b|then\b|is\b)[a-z\d]{2,15}(?: (?:st|ave|street|avenue|rd|road|blvd))?(?![\w-])",
    ),
    Rule(
        "ADDRESS",
        WORDS,
        r"(?i)(?:gps|lat(?:itude)?|coordinates?|location|geo)[ :=(]{1,4}\K[-+]?\d{1,2}\.\d{3,8}°?[NS]?[, ]{1,3}(?:"
        r"lon\w{0,6}[ :=]{1,3})?[-+]?\d{1,3}\.\d{3,8}°?[EW]?",
    ),
    Rule(
        "ADDRESS",
        Digits(1, 2, "."),
        r"(?<![\w.])(?<=(?P<since>-?))\d{1,2}\.\d{4,8}°? ?[NS]?, ?-?\d{1,3}\.\d{4,8}°? ?[EW]?(?!\w)",
    ),
    Rule(
        "ADDRESS",
        Digits(1, 3, "*"),
        r"(?<![\w.])\d{1,3}° ?\d{1,2}['′] ?(?:\d{1,2}(?:\.\d{1,4})?[\"″'] ?)?[NS],? ?\d{1,3}° ?\d{1,2}['′] ?(?:"
        r"\d{1,2}(?:\.\d{1,4})?[\"″'] ?)?[EW]",
    ),
    Rule(  # only one coordinate
        "ADDRESS",
        Digits(1, 3, "*"),
        r"(?<![\w.])\d{1,3}° ?\d{1,2}['′] ?\d{1,2}(?:\.\d{1,4})?(?:[\"″]|'') ?[NSEW]\b",
    ),
)

_ZIPS = (
    Rule("ZIP", Digits(5, 5), rf"(?<=(?<!\p{{L}}){_STATE}\.?,?\s{{1,3}})\d{{5}}(?:-\d{{4}})?\b"),
    Rule(
        "ZIP",
        WORDS,
        r"(?i)(?:zip(?: ?code)?|postal code|post ?code|pin ?code|PLZ"
        r"|eircode)(?: is)?[: #]{1,3}\K(?=[A-Z -]{0,4}\d)[A-Z\d][A-Z\d -]{2,8}[A-Z\d]\b",
    ),
    Rule("ZIP", Digits(5, 5, "-"), r"(?<![\w.-])\d{5}-\d{4}(?![\w-])"),
    Rule(
        "ZIP", CODE, r"(?<![\w-])(?:[A-PR-UWYZ][A-HK-Y]?\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{2})(?![\w-])"
    ),  # British
    Rule("ZIP", CODE, r"(?<![\w-])[ABCEGHJ-NPRSTVXY]\d[A-Z][ -]\d[A-Z]\d(?![\w-])"),  # Canadian
    Rule(
        "ZIP",
        CODE,
        r"(?<![\w-])(?:CH|DE|AT|FR|NL|BE|DK|FI|SE|NO|LT|LV|SI|HR|LU|MD)-\d{4,5}(?![\w-])",
    ),
)

# Words with which the name of a place does not begin, and whole terms that are not places.
_NOT_A_PLACE_NAME = (
    r"(?!(?:\L<not_places>|[IVX]{1,3}|\p{L}{3,20}(?:ology|iatrics?|iatry|opedics|opaedics))\b(?=[ .,;:)\n]|$)"
    r"|(?:Medical|Health|Support|Nursing|Clinical|Public|Laboratory|Primary|Home) (?:Services?|System|Group|Home"
    r"|Facility|School|Care)\b"
    r"|(?:American|European|World|Eastern|International|Canadian|British) (?:\p{L}+ ){0,4}(?:Institutes?|College"
    r"|Group|Network)\b"
    r"|\p{Lu}\. )"
)
# Words that make a place part of a term: scores, criteria and makers named after it.
TERM_AFTER_A_PLACE = (
    r"(?i) (?:[\w-]{1,20} ){0,2}(?:score|scale|criteri(?:a|on)|classification|rules?|chromosome|definition"
    r"|questionnaire|index"
    r"|guidelines?|declaration|consensus|staging|heart association|coma|cognitive|scientific|card sort"
    r"|living with|formula"
    r"|grading|inventory)\b"
)
_LOCATIONS = (
    Rule(  # "Hobart TAS 7000"
        "LOCATION",
        WORDS,
        rf"(?<=\b(?P<since>{_CAPITALISED}(?: {_CAPITALISED}){{0,2}}),? )\L<australian_states>,? "
        rf"\d{{4}}(?![\w%]|[.,]\d| ?(?:mL|ml|mg|g|kg)\b)",
    ),
    Rule(
        "LOCATION",
        WORDS,
        rf"(?<=\b(?!(?:And|Or|In|By|Therefore|However|Thus|Hence|Also|Then|Moreover|Finally|First|Second|Overall"
        rf"|Here|Yes|No)\b|\p{{Lu}}{{1,3}},)(?P<since>{_CAPITALISED}(?: {_CAPITALISED}){{0,2}}),"
        rf"\s{{0,2}}){_STATE}\b(?:"
        rf",? \d{{5}}(?:-\d{{4}})?)?",
    ),
    Rule(
        "LOCATION",
        WORDS,
        rf"(?<=\b(?P<since>{_CAPITALISED}(?: {_CAPITALISED}){{0,2}}) ){_STATE},? \d{{5}}(?:-\d{{4}})?\b",
    ),
    Rule(
        "LOCATION",
        WORDS,
        r"(?i)(?:liv(?:es?|ed|ing)|resid(?:es?|ing|ents?)|born(?: and raised)?|raised|mov(?:ed?|ing)(?: here"
        r"| back)?|travel(?:s|led|ed|ing|ling)?|native|visit(?:ing|ed)?|trip"
        r"|based|located|relocated|flew|flying|flight|returned|grew up|emigrated|immigrated|hail(?:s|ing)"
        r"|originally|c[ao]mes?|fled|immigrant|refugee|citizen"
        r"|vacation(?:ed|ing)?|holiday|deployed|stationed|drove|headquartered|settled|commutes"
        r"|originates)(?: recently| back| here| home| there| out| down| over| up| in)?"
        r"(?: (?:in|to|from|of|near|outside(?: of)?|through|around|at))(?: (?:the|rural|downtown|suburban"
        r"|northern|southern|eastern|western|central"
        r"|nearby|greater|inner|upstate))?(?: (?:city|town|village|state|county|province|suburbs?|outskirts"
        r"|island|borough) of)? \K(?-i:(?!(?:ICU|ED|ER|OR|PACU|The|Dr|Mr|Mrs|Ms|Type|Stage|Grade"
        r"|\L<months>|\L<weekdays>|Spring|Summer|Fall|Autumn|Winter|Hospital|Clinic|Emergency|Department|Medicare|Medicaid)\b)"
        r"(?:\p{Lu}\p{Ll}[\p{Ll}'-]{0,30}(?:\p{Lu}\p{Ll}{2,20})?(?![\p{L}\d])|\p{Lu}{5,30}\b|(?:UK|USA?|UAE|NYC"
        r"|DC|LA)\b)(?:(?:,? | (?:de|la|del|of|the|upon|on|sur|am"
        r"|an der) )\p{Lu}[\p{L}'-]{1,30}){0,3})(?<!-)(?!'s (?:disease|syndrome))",
    ),
    Rule(
        "LOCATION",
        WORDS,
        r"(?i)visit(?:s|ed|ing)? \K(?-i:(?!(?:Dr|Mr|Mrs|Ms)\b)\p{Lu}\p{Ll}{2,20}(?: \p{Lu}\p{Ll}{2,20})?)(?= (?:in"
        r"|last|next|this|and|with|for)\b|[.,;])",
    ),
    Rule(
        "LOCATION",
        WORDS,
        r"(?i)(?:(?:city|town|village|county|state|province|municipality|borough|island|suburb|district) of "
        r"|(?:hometown|birthplace|(?:place|city|town) of birth|residence|city|town|county|state|province"
        r"|country)(?:/\w{4,9})?(?: is"
        r"|:) ?)\K"
        r"(?-i:(?!The\b)\p{Lu}[\p{L}'-]{1,30}(?: \p{Lu}[\p{L}'-]{1,30}){0,3})",
    ),
    Rule(
        "LOCATION",
        WORDS,
        r"(?<=(?<![\p{L}])(?!(?:The|This|That|Our|Her|His|Each|A|An|In"
        r"|Per)\b)(?P<since>\p{Lu}\p{Ll}[\p{L}'-]{0,30}(?: \p{Lu}\p{Ll}[\p{L}'-]{1,30}){0,2}) )"
        r"(?:County|Parish|Township|Island|Islands|Beach|Borough|Reservation|Valley)\b(?! (?:[Ff]ever|virus"
        r"|[Dd]isease|[Ss]yndrome))",
    ),
)

_FACILITY_WORD = (
    r"(?:\L<facilities_by_kind>|Hosp\b\.?"
    r"|(?<=\b\L<fields_of_facilities> )(?:\L<parts_of_facilities>|Ctr\b\.?|Cntr\b\.?))"
)
_FACILITIES = (
    Rule(
        "FACILITY",
        WORDS,
        rf"(?<=(?<![\p{{L}}\d]){_NOT_A_PLACE_NAME}(?P<since>{_CAPITALISED}(?:(?:{_LINK})? {_CAPITALISED}){{0,5}}(?:"
        rf"{_LINK})?) ){_FACILITY_WORD}(?!\w)"
        rf"(?: {_FACILITY_WORD}(?!\w)){{0,2}}(?:,? (?:of|at|in"
        rf"|for)(?: the)? {_CAPITALISED}(?: {_CAPITALISED}){{0,3}})?",
    ),
    Rule(
        "FACILITY",
        WORDS,
        rf"(?:(?:University|Hospital|Children's Hospital|Clinic|College|Institute|Medical Center) (?:of|for|de|del"
        rf"|della|da|di)(?: (?:the|la|el))?"
        rf"|(?:H[oô]pital|Ospedale|Cl[ií]nica|Krankenhaus)(?: (?:de|di|del|da|des|du))?(?: (?:la|el|los|les))?"
        rf"|Hospital (?:San|Santa|Saint|Universitario|General|Clínico)(?: (?:de|del))?(?: (?:la|el|los))?)"
        rf" {_CAPITALISED}(?:(?:{_LINK})? {_CAPITALISED}){{0,4}}",
    ),
    Rule(
        "FACILITY",
        WORDS,
        rf"(?<=(?<![\p{{L}}\d]){_NOT_A_PLACE_NAME}(?P<since>\p{{Lu}}[\p{{L}}'-]{{1,40}}(?: \p{{Lu}}"
        rf"[\p{{L}}'-]{{1,40}}){{0,3}}"
        rf"(?: (?:medical|health|cancer|urgent care|general|community|regional|memorial))?) )"
        r"(?:hospital|clinic|infirmary|hospice|campus|office|center|centre|pharmacy|nursing home)\b",
    ),
    Rule(
        "FACILITY",
        WORDS,
        rf"at (?:the )?\K{_NOT_A_PLACE_NAME}\p{{Lu}}[\p{{L}}'-]{{1,40}}(?:(?:{_LINK})? \p{{Lu}}[\p{{L}}'-]{{1,40}}"
        rf"){{1,5}}",
    ),
    Rule(
        "FACILITY",
        WORDS,
        r"(?i)(?:ward|room|bed|rm|unit|floor|bay|theat(?:re|er)|suite|wing|bldg|building)(?: (?:no"
        r"|number)\.?)?[ #:.]{1,2}\K"
        r"(?-i:(?=[A-Z-]{0,4}\d)[A-Z]{0,3}-?\d{1,4}[A-Z]?(?:-\d{1,3}|-[A-Z])?)\b(?! ?(?:mg|ml|mm|cm|of|units?"
        r"|times|days?|%))(?:,? (?i:bed|bay) [A-Z\d]{1,3}\b)?",
    ),
    Rule(  # "Loc Renal Unit 2A", "Maternity Ward 3"
        "FACILITY",
        WORDS,
        r"(?<=(?<![\p{L}\d])(?!(?:Each|One|Per|Blood|Insulin|Dose|The|This|Loc"
        r"|Location)\b)(?P<since>\p{Lu}\p{Ll}{3,15} ))"
        r"(?:Unit|Ward|Wing|Suite|Pavilion|Block) \d{1,2}[A-Z]?(?![\w%/]|[.,]\d)",
    ),
    Rule(  # "CCU-2 bed 9", "CVICU-B bed 4", "C2 landing"
        "FACILITY",
        WORDS,
        r"(?<=(?<![\w-])(?P<since>[A-Z]{1,6}-?[A-Z\d]{1,3}) {1,2})(?:bed|bay|rm|room|landing|spur|pod)(?![\p{L}])"
        r"(?: #?\d{1,3}[A-Z]?\b)?",
    ),
    Rule(  # "Avd 34", "Ambulatorio 6"
        "FACILITY",
        WORDS,
        r"\L<ward_words_abroad>\.? \d{1,3}[A-Z]?(?![\w%]|[.,]\d)",
    ),
    Rule(  # "driving down Hwy 87"
        "ADDRESS",
        WORDS,
        r"(?i)(?:hwy|highway|interstate|state route|county road)[ -]?\d{1,4}[A-Z]?(?![\w%]|[.,]\d)",
    ),
    Rule(  # parts of a hospital distinguished by a letter or a digit
        "FACILITY",
        WORDS,
        r"(?:(?i:trauma|resus(?:citation)?) (?:(?i:bay|room) )?[1-9]\d?|(?:Trauma|Resus) [A-D]"
        r"|(?i:(?:waiting|family|consult(?:ation)?|procedure|exam(?:ination)?|treatment|recovery|operating|delivery"
        r"|isolation|trauma|resus(?:citation)?) (?:room|bay|area)) #?(?:[1-9]\d{0,2}[A-Z]?|[A-HJ-Z])"
        r"|(?:Pod|Bay|Bed|Room) [A-HJ-Z])"
        r"(?![\w%/-]|\.\d| ?(?i:cent(?:er|re)|patients?|times|days?|hours?|weeks?|months?|years?|hrs?|wks?|yrs?)\b)",
    ),
    Rule(
        "FACILITY",
        Digits(1, 2, "Aa"),
        r"(?<![\w./-])\d{1,2}(?: ?(?:North|South|East|West|[NSEW]))(?= (?:ward|unit|ICU|nurses?|station|floor|wing)\b)",
    ),
    Rule(
        "FACILITY",
        WORDS,
        r"(?<=(?<![\p{L}\d])(?!(?:The|This|That|Our|A|An|Each|Any|Her|His|Per"
        r"|Same)\b)(?P<since>\p{Lu}\p{Ll}[\p{L}'-]{1,30}(?: \p{Lu}[\p{L}'-]{1,30})?) )(?:Ward|Wing|ward"
        r"|wing)\b(?!-)",
    ),
    Rule(
        "FACILITY",
        Listed("visits"),
        rf"(?!(?i:seen|reviewed) in (?!the )|(?i:diagnos|present|treat|admi|transf|discharg|patient|manag|evaluat"
        rf"|seen|care|brought|born|assess"
        rf"|monitor"
        rf"|review|biopsy|surgery)[a-z]{{0,6}} with )\p{{L}}{{4,13}}(?:-up| up)?"
        rf"(?: (?i:here|back|up|out|earlier|recently|today))? (?:to|at|from|by|with|in) (?:the "
        rf"|our )?\K{_NOT_A_PLACE_NAME}"
        rf"(?!(?:\L<months>|Dr|Mr|Mrs|Ms|Prof|Stage|Type|Grade|Class|Phase)\b)"
        rf"(?:\p{{Lu}}[\p{{Ll}}][\p{{L}}'&-]{{0,40}}|St\.|Mt\.|\p{{Lu}}{{2,5}}(?= \p{{Lu}}\p{{Ll}}))(?:"
        rf"(?:{_LINK})? {_CAPITALISED}){{0,5}}(?![\p{{L}}\d-])(?!'?s? (?i:syndrome|disease|sign|test|score|scale"
        rf"|criteria|stain"
        rf"|type|positive|negative|bacilli|cells?|patients?)\b)",
    ),
)

_IN_FIELDS = (
    Rule(
        "FACILITY",
        WORDS,
        r"(?i)(?:ward|unit|hospital|clinic|facility|loc(?:ation)?|site|pharmacy|practice|bed"
        r"|hosp)(?: name)?[ \t]{0,2}:[ \t]{0,3}\K"
        r"(?-i:(?=[A-Z\d-]{0,8}\d)[A-Z\d]{1,6}(?:-[A-Z\d]{1,5}){0,3}\b|"
        r"\p{Lu}[\p{L}'.&-]{2,30}(?: (?:of |the |and )?\p{Lu}[\p{L}'.&-]{1,30}){0,5})(?=[ \t]{2}|[,;.\n|)]|$)",
    ),
    Rule(
        "FACILITY",
        WORDS,
        r"(?<=(?<!\p{L})(?P<since>The \p{Lu}\p{L}{2,20}(?: \p{Lu}\p{L}{2,20})?) )(?:Surgery|Practice)\b",
    ),
    Rule(
        "FACILITY",
        WORDS,
        r"(?i)(?<=\b(?:at|to|from) )(?:st\.?|saint) (?!(?:elevation|segment|depression|wave"
        r"|change)s?\b)\p{L}{3,15}(?:'?s)?\b",
    ),
    Rule(
        "ORGANIZATION",
        WORDS,
        r"(?i)(?:work(?:s|ed|ing)?|employed|employee|ceo|manager)(?: (?:part-time|full-time"
        r"|as an? [\p{L} -]{3,30}?))?"
        r" (?:for|at|by|with|of) (?:the )?\K(?-i:(?!(?:The|Dr|Mr|Mrs|Ms)\b)\p{Lu}[\p{L}\d'&-]{1,30}(?:(?: (?:of"
        r"|and|&|the))? \p{Lu}[\p{L}\d'&-]{1,30}){0,5})",
    ),
    Rule(
        "ORGANIZATION",
        WORDS,
        r"(?<=(?<![\p{L}\d])(?P<since>\p{Lu}[\p{L}\d'&.-]{1,30}(?:(?: (?:of|and"
        r"|&))?,? \p{Lu}[\p{L}\d'&.-]{1,30}){0,4}),? )"
        r"(?:Inc|LLC|L\.L\.C|Ltd|PLC|plc|GmbH|Corp|Corporation|Company|S\.A|Srl|S\.p\.A|Oy|LLP|Pty Ltd)\b\.?",
    ),
)

RULES = (*_IN_FIELDS, *_ADDRESSES, *_ZIPS, *_LOCATIONS, *_FACILITIES)
