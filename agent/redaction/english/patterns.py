r"""What identifiers look like in clinical English: one table of regular expressions, by entity.

Read by `agent.redaction.recognizers`, which runs them with the `regex` module: case counts unless a pattern says
`(?i)`, and `\K` drops the cue before an identifier, so that "MRN: 12345" keeps its label. The texts have been
folded first (see `agent.redaction.folding`): plain digits, hyphens, quotes and spaces only.

Entities follow the eighteen classes of the HIPAA Safe Harbor rule, 45 CFR 164.514(b)(2).
"""

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_DAY_WORD = (
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|(?:thir|four|fif|six"
    r"|seven|eigh|nine)teenth|twentieth|thirtieth|(?:twenty|thirty)[- ](?:first|second|third|fourth|fifth|sixth"
    r"|seventh|eighth|ninth))"
)
_YEAR = r"(?:(?:19|20)\d\d|'\d\d)"
_CLOCK = r"(?:[T ,]+(?:at )?\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?: ?[ap]\.?m\b\.?)?(?:Z\b|[+-]\d\d:?\d\d)?)?"
_DATE_CUE = r"(?:on|since|from|until|till|before|after|by|dated?|of|as of|DOB|D\.O\.B\.|born|visit|seen|due|and|to)"
_NOT_IN_WORD = r"(?<![\w/.-])"
_NOT_ON = r"(?![\w/]|[.-]\d)"

_MAILBOX = r"[\w.!#$%&'*+/=?^`{|}~-]"

# An identifier after a cue: at least one digit, then or before letters, digits and joints.
_IDENTIFIER = r"(?=[\w#./-]*\d)[#\w][\w./-]*\w"
# Bounded on every side, so that no text makes a pattern try for long.
_GAP = (
    r"(?:\s{0,3}(?:number|num|no|nr|id|identifier|code|card|#)\b?\.?){0,3}"
    r"\s{0,3}(?:(?:is|was|of)\b|[:=#(-]){0,3}\s{0,3}"
)

_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Drive|Dr|Lane|Ln|Court|Ct|Circle|Cir|Place|Pl|Terrace|Ter|Way"
    r"|Parkway|Pkwy|Highway|Hwy|Square|Sq|Trail|Trl|Plaza|Loop|Row|Crescent|Alley|Turnpike|Tpke|Route|Rte)"
)
_UNIT = r"(?:,? (?:Apt|Apartment|Suite|Ste|Unit|Floor|Fl|Room|Rm|Bldg|#)\.? ?#?[\w-]+)?"
_STATE = (
    r"(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT"
    r"|V[AT]|W[AIVY])"
)
_CAPITALISED = r"(?:\p{Lu}[\p{L}'&-]*|St\.|Mt\.|Ft\.|\p{Lu}\.|\d+(?:st|nd|rd|th))"
_LINK = r"(?: (?:of|the|and|&|for|at|in|de|la|del)){1,2}"
_NOT_A_PLACE_NAME = (
    r"(?!(?:The|This|That|These|A|An|In|At|Our|My|Your|His|Her|Their|Its|Any|Each|No|When|What|Which|Where|Is|Was"
    r"|If|And|Or"
    r"|For|From|To|Of|By|On|Since|After|Before|During|Outpatient|Inpatient|Emergency|Local|Day|Pain|Sleep)\b )"
)
_FACILITY_WORD = (
    r"(?:Hospitals?|Hosp\b\.?|Hospice|Infirmary|Sanatorium|Clinics?|Polyclinic|(?:Medical|Med|Health|Healthcare|Cancer"
    r"|Heart|Surgical|Surgery|Trauma|Rehabilitation|Rehab|Nursing|Oncology|Dialysis|Wellness|Care|Eye|Imaging"
    r"|Children's|Community|Veterans|VA|Diagnostic|Treatment|Behavioral|Psychiatric|Urgent Care) "
    r"(?:Center|Centre|Ctr\b\.?|Cntr\b\.?|Home|Institute|System|Group|Associates|Network|Partners|Campus|Facility"
    r"|Services)"
    r"|Medical School|School of Medicine|Healthcare|Nursing Home|University|College|Institute|Pharmacy"
    r"|Laborator(?:y|ies)|General)"
)

PATTERNS: dict[str, tuple[str, ...]] = {
    "DATE": (
        rf"{_NOT_IN_WORD}(?:19|20)\d\d[-/.](?:1[0-2]|0?[1-9])[-/.](?:3[01]|[12]\d|0?[1-9])(?!\d){_CLOCK}",
        rf"{_NOT_IN_WORD}(?:3[01]|[12]\d|0?[1-9])[-/.](?:3[01]|[12]\d|0?[1-9])[-/.](?:(?:19|20)?\d\d)(?!\d){_CLOCK}",
        rf"{_NOT_IN_WORD}(?:1[0-2]|0?[1-9])[-/](?:19|20)\d\d{_NOT_ON}",
        rf"{_NOT_IN_WORD}(?:19|20)\d\d-(?:1[0-2]|0[1-9]){_NOT_ON}",
        rf"(?i)\b(?:{_DATE_CUE})[: ]+\K(?:1[0-2]|0?[1-9])[-/](?:3[01]|[12]\d|0?[1-9]){_NOT_ON}(?! ?(?:mm|scale"
        rf"|strength|points?|%))",
        rf"(?i)\b{_MONTH} ?(?:the )?{_DAY}\b(?:,? +{_YEAR}|,? +(?=\d\d:)|)(?!\d){_CLOCK}",
        rf"(?i)\b{_MONTH} (?:the )?{_DAY_WORD}\b(?:,? {_YEAR})?",
        rf"(?i)\b{_DAY}[ -](?:of )?{_MONTH}(?:[ ,-]+{_YEAR})?(?![\w]){_CLOCK}",
        rf"(?i)\b(?:the )?\K{_DAY_WORD} (?:day )?of {_MONTH}(?:,? {_YEAR})?",
        rf"(?i)\b{_DAY}[-/]{_MONTH}[-/](?:\d\d|\d{{4}})\b",
        rf"(?i)\b{_MONTH}[ ,/-]+(?:of )?{_YEAR}\b",
        r"(?i)\b(?:in|since|until|till|by|during|last|this|next|early|late|mid|from|through|before|after)[ -]"
        r"\K(?-i:(?:January|February|March|April|May|June|July|August|September|October|November|December"
        r"|Jan|Feb|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec))\b\.?",
        r"(?i)\b(?:DOB|D\.O\.B\.|date of birth|birth ?date|born(?: on)?|date of death|DOD)[: ]+\K\d[\d ./-]{3,9}\d",
        r"\b(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Satur|Sat|Sun)(?:day)?,? \K(?:3[01]|[12]\d|0?[1-9])(?:st|nd"
        r"|rd|th)\b",
    ),
    "AGE": (
        r"(?i)(?<![\d.])\K(?:9\d|1[0-3]\d)(?=[ -]*(?:years?|yrs?|y/?o|y\.o\.|yo[mf]?|year-old)\b)",
        r"(?i)\bage[ds]?(?: of)?[: ]+\K(?:9\d|1[0-3]\d)\b(?!\.\d|[%/])",
        r"(?i)\bnine?ty(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?(?=[ -]years?)",
        r"(?i)\bin (?:his|her|their) (?:early |mid |late )?(?:\K(?:9|10|11)0'?s\b|\Knineties\b)",
        r"(?i)\b(?:nona|cente)narian\b",
    ),
    "SSN": (
        r"(?<![\d-])\d{3}[- ]\d{2}[- ]\d{4}(?![\d-])",
        rf"(?i)\b(?:SSN|social security){_GAP}\K[\dX*][\dX*. -]{{2,10}}\d\b",
    ),
    "PHONE": (
        r"(?<![\w.-])(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?:,? ?(?:x|ext\.?"
        r"|extension) ?\d{1,6})?(?![\d-])",
        r"(?<![\w.-])\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}(?:,? ?(?:x|ext\.?|extension) ?\d{1,6})?(?![\w-])",
        r"(?i)\b(?:phone|tel(?:ephone)?|cell|mobile|fax|pager?|beeper|contact|call(?:ed)?|reached? at|text)\b"
        r"(?: number| no\.?| #)?(?: is| at)?[:. ]*\K\(?\d[\d ().-]{4,14}\d(?:,? ?(?:x|ext\.?|extension) ?\d{1,6})?",
        r"(?<![\w.-])\d{3}-\d{4}(?![\w-])",
        r"(?i)\b(?:pager|beeper|bleep|page)(?: number| no\.?| #)?[:. ]*\K\d{4,7}\b",
        r"(?i)\b(?:ext\.|extension) ?\K\d{3,6}\b",
        r"(?<![\w.-])0\d{1,4}(?:[ .-]\d{2,4}){2,4}(?![\w-])",
    ),
    # Begun where a word begins (or the search does), it finds the same as begun anywhere, and tries a word once.
    "EMAIL": (
        rf"(?i)(?:\G|(?<!{_MAILBOX})){_MAILBOX}+ ?(?:@|\(at\)|\[at\]) ?[\w-]+"
        r"(?:(?:\.| ?(?:\(dot\)|\[dot\]) ?)[\w-]+)+",
    ),
    "URL": (
        r"(?i)\b(?:https?|ftps?|file|sftp|s3|jdbc:\w+)://[^\s<>\"'\])]+",
        r"(?i)\bwww\.[\w-]+(?:\.[\w-]+)+(?:/[^\s<>\"'\])]*)?",
        r"(?i)(?<![@\w.-])(?:[a-z][\w-]*\.)+(?:com|org|net|edu|gov|info|health|hospital|local|internal|lan"
        r"|co\.uk)\b(?:/[^\s<>\"'\])]*)?",
        r"(?i)(?<![\w@])@[a-z]\w{2,29}\b(?!\.)",
    ),
    "IP": (
        r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])(?::\d{2,5})?",
        r"(?i)(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}(?![\w:])|(?<![\w:])(?:[0-9a-f]{1,4}:)+:"
        r"(?:[0-9a-f]{1,4}:?)+(?![\w:])",
        r"(?i)(?<![\w:-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:-])",
    ),
    "MRN": (
        rf"(?i)\b(?:MRN?|MR#|med(?:ical)?\.? rec(?:ord)?|(?:hospital|patient|chart|unit)(?=\W+(?:id|number|no|#"
        rf"|record))"
        rf"|pt\.?(?= ?(?:id|no|#))|record|chart|UHID|EMPI|MPI|NHS|CHI){_GAP}\K{_IDENTIFIER}",
    ),
    "ENCOUNTER": (
        rf"(?i)\b(?:CSN|FIN|HAR|encounter|accession|requisition|(?:visit|specimen|case|order|referral|episode|admission"
        rf"|study|sample|lab)(?=\W{{0,3}}(?:id|number|no\b|#|:)|\W?#)){_GAP}\K"
        rf"(?=[\w#./-]*\d[\w#./-]*\d[\w#./-]*\d)(?!(?:19|20)\d\d\b)[#\w][\w/-]*\w",
    ),
    "ACCOUNT": (
        rf"(?i)\b(?:account|acct|a/c|billing|invoice|guarantor|payment|claim|routing|credit card|debit card"
        rf"|IBAN){_GAP}\K{_IDENTIFIER}",
    ),
    "PLAN": (
        rf"(?i)\b(?:HICN?|MBI|policy|member(?:ship)?|subscriber|beneficiary|insur(?:ance|ed)|medicare|medicaid|plan"
        rf"|health ?plan|payer|group(?=\W+(?:id|number|no\b|#))|prior auth(?:orization)?|auth(?:orization)?)"
        rf"(?: (?:policy|plan|card|member))?{_GAP}\K(?=[\w#./-]*\d[\w#./-]*\d[\w#./-]*\d){_IDENTIFIER}",
    ),
    "LICENSE": (
        rf"(?i)\b(?:NPI|DEA|licen[sc]e|lic|certificate|cert|passport|permit|registration|driver'?s? licen[sc]e|"
        rf"(?-i:DL)){_GAP}\K"
        rf"(?=[\w#./-]*\d[\w#./-]*\d[\w#./-]*\d){_IDENTIFIER}",
    ),
    "VEHICLE": (
        r"\b(?=[A-HJ-NPR-Z\d]*\d)(?=[A-HJ-NPR-Z\d]*[A-HJ-NPR-Z])[A-HJ-NPR-Z\d]{17}\b",
        rf"(?i)\b(?:VIN|licen[sc]e plate|number plate|plate|vehicle){_GAP}\K(?-i:(?=[\w -]*\d)[A-Z\d][A-Z\d-]*"
        rf"(?: [A-Z\d-]+)?)",
    ),
    "DEVICE": (
        rf"(?i)\b(?:serial|s/n|SN|device|UDI|lot|IMEI|implant|pacemaker|model){_GAP}\K"
        rf"(?=[\w#./-]*\d[\w#./-]*\d[\w#./-]*\d)(?!(?:19|20)\d\d\b){_IDENTIFIER}",
    ),
    "ID": (
        rf"(?i)\bID\b{_GAP}\K(?=[\w#./-]*\d[\w#./-]*\d){_IDENTIFIER}",
        r"(?<![\w.#-])#? ?[A-Z]{1,6}-\d{4,}(?:-?[A-Z\d]+)*\b",
        r"(?<![\w.#-])#\K[A-Z\d]*\d{3,}[A-Z\d-]*\b",
        r"(?<![\w.-])(?=[A-Z\d]*[A-Z])(?=[A-Z\d]*\d{4})[A-Z\d]{7,}(?![\w])",
        r"(?<![\w.,-])\d{7,}(?![\w]|[.,]\d)",
        r"(?<![\w.-])\d{2,6}(?:-\d{2,6}){2,}(?![\w-])",
        r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
        r"(?<![\w+/])[A-Za-z\d+/_-]{80,}={0,2}",
    ),
    "ADDRESS": (
        rf"\b\d{{1,6}}[A-Z]?(?:-\d+)? (?:(?:[NSEW]|North|South|East|West|NE|NW|SE|SW)\.? )?"
        rf"(?:{_CAPITALISED} ){{1,4}}?{_STREET}\b\.?{_UNIT}",
        rf"(?i)\b\d{{1,6}} (?:[a-z]+ ){{1,3}}?(?:street|avenue|boulevard|road|lane|drive|court|parkway)\b{_UNIT}",
        r"(?i)\bP\.? ?O\.? ?Box \d+",
        r"(?i)\b(?:home |mailing |street )?address[: ]+(?:is )?\K\d[^\n;.]{5,60}",
        r"\b(?:lives|living|resides|residing|resident) (?:at|on) \K\d[^\n;.]{5,60}",
    ),
    "ZIP": (
        rf"\b{_STATE},? +\K\d{{5}}(?:-\d{{4}})?\b",
        r"(?i)\b(?:zip(?: ?code)?|postal code|postcode)[: ]*(?:is )?\K[A-Z\d][A-Z\d -]{2,8}[A-Z\d]\b",
        r"(?<![\w.-])\d{5}-\d{4}(?![\w-])",
    ),
    "LOCATION": (
        rf"\b(?!(?:And|Or|In|By)\b){_CAPITALISED}(?: {_CAPITALISED}){{0,2}}, ?{_STATE}\b(?:,? \d{{5}}(?:-\d{{4}})?)?",
        r"(?i)\b(?:lives?|living|resid(?:es|ing|ent)|born|raised|moved|travel(?:led|ed|s)?|native|visiting|trip"
        r"|based|located)"
        r" (?:in|to|from|of) (?:the )?\K(?-i:\p{Lu}\p{Ll}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*)*)",
    ),
    "FACILITY": (
        rf"{_NOT_A_PLACE_NAME}\b(?:{_CAPITALISED}(?:{_LINK})? ){{1,6}}?{_FACILITY_WORD}(?![\w])"
        rf"(?:,? (?:of|at|in|for) (?:the )?{_CAPITALISED}(?: {_CAPITALISED})*)?",
        rf"\b(?:University|Hospital|Children's Hospital|Clinic|College|Institute|Medical Center) (?:of|for) "
        rf"(?:the )?{_CAPITALISED}"
        rf"(?:(?:{_LINK})? {_CAPITALISED})*",
        rf"{_NOT_A_PLACE_NAME}\b(?:\p{{Lu}}[\p{{L}}'-]+ ){{1,4}}(?:(?:medical|health|cancer|urgent care) )?"
        r"(?:hospital|clinic|infirmary|hospice|campus|office|center)\b",
        rf"\bat (?:the )?\K{_NOT_A_PLACE_NAME}\p{{Lu}}[\p{{L}}'-]+(?:(?:{_LINK})? \p{{Lu}}[\p{{L}}'-]+)+",
        r"(?i)\b(?:ward|room|bed|rm|unit|floor)[ #]+\K(?-i:(?=[A-Z-]*\d)[A-Z]{0,3}-?\d{1,4}[A-Z]?)\b",
        rf"\b(?i:admitted|transferred|referred|sent|presented|presenting|presents|brought|discharged|treated|seen"
        rf"|evaluated"
        rf"|hospitali[sz]ed|followed|diagnosed|reviewed|managed|assessed|operated|monitored|enrolled|appointment"
        rf"|visit|surgery"
        rf"|biopsy|care|patient|consult(?:ed|ation)?|follow-?up|employed|works?|studies|born)"
        rf"(?: (?i:here|back|up|out|earlier|recently|today))? (?:to|at|from|by|with|in) (?:the "
        rf"|our )?\K{_NOT_A_PLACE_NAME}"
        rf"(?!(?:January|February|March|April|May|June|July|August|September|October|November|December"
        rf"|Dr|Mr|Mrs|Ms|Prof|Stage|Type|Grade|Class|Phase)\b)"
        rf"(?:\p{{Lu}}[\p{{Ll}}][\p{{L}}'&-]*|St\.|Mt\.|\p{{Lu}}{{2,5}}(?= \p{{Lu}}\p{{Ll}}))(?:"
        rf"(?:{_LINK})? {_CAPITALISED})*",
    ),
}
