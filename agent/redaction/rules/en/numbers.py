r"""Numbers of records, people, plans, accounts, licences, vehicles and devices, mostly by the preceding word.

Numbers without such a word are detected by their form: seven or more digits, letters joined to four digits, groups of
digits joined by hyphens, and the national identity numbers of many countries.
"""

from agent.redaction.rules.rulebook import ANYWHERE, CODE, LONG, WORDS, Digits, Listed, Rule, Signs

# Text between a word and its identifier, bounded so that no text makes a pattern backtrack for long.
_GAP = (
    r"(?:\s{0,3}\(?(?:number|num|no|nr|id|ID|identifier|code|card|#|№)\b?\.?s?){0,3}"
    r"\s{0,3}(?:(?:is|was|are|reads|ends? (?:in|with)|ending(?: in)?)\b|[:=#([\"'|*-]){0,4}\s{0,3}[\"'(]?"
)
# An identifier with at least one digit, and further groups of digits or identifiers of the same kind after it.
_MORE = (
    r"(?:(?:(?<=\d) \d{3,4}(?![\w.%/])){1,4}(?: \d{1,2}(?![\w.%/-]| ?[ymfYMF]))?)?(?:(?: ?[,;/&] ?| and "
    r"| or )#?(?=[A-Z-]{0,6}\d{3})[A-Z\d-]{4,30}(?!\w)){0,5}"
)
_LETTERS = r"(?:(?-i:[A-Z]{2,5}) (?=\d{3}))?"  # separated from the digits
_NOT_MEASURED = (
    r"(?!\d{1,4}(?:[.-]\d{1,3})? ?(?:cc|m[lgm]|cm|mcg|kg|g|units?|iu|%|days?|weeks?|months?|years?|hours?|minutes?|min"
    r"|patients|cases|times|points?)(?!\w))"
)
_IDENTIFIER = rf"(?=[\w#./-]{{0,40}}\d){_NOT_MEASURED}[#\w][\w./-]{{0,60}}\w"
_OF_THREE_DIGITS = rf"(?=(?:[\w#./-]{{0,30}}\d){{3}})(?!(?:19|20)\d\d\b(?![-/]\w)){_NOT_MEASURED}"
_KIND_FOLLOWS = r"(?=\W{1,3}(?:id|number|num|no\b|nr\b|#|record|code)|\W?#|:)"

_CUED = (
    Rule(
        "MRN",
        WORDS,
        rf"(?i)(?:(?:c|e)?MRNs?|MR#|(?-i:MR)(?= ?(?:no|num|id|#|:))|med(?:ical)?\.? rec(?:ord)?s?|(?:hospital"
        rf"|patient|chart|unit|UR|HN){_KIND_FOLLOWS}"
        rf"|pt\.?(?= ?(?:id|no|#))|record|chart|UHID|EMPI|MPI|NHS|(?-i:CHI)|URN|PHN"
        rf"|NHC)(?!\p{{L}}){_GAP}\K{_IDENTIFIER}{_MORE}",
    ),
    Rule(
        "ENCOUNTER",
        WORDS,
        rf"(?i)(?:CSN|FIN|HAR|encounter|accession|requisition|(?:acc|visit|specimen|case|order|referral|episode"
        rf"|admission"
        rf"|study|sample|lab|slide|block|biopsy|prescription|rx|ticket|incident|claim|protocol|tracking|confirmation"
        rf"|(?:reference|ref|appointment)(?=\W{{1,3}}(?:id|number|no\b|#))|booking|consent|participant|enrollment"
        rf"|randomization|dispense)"
        rf"(?: (?:subject|order|visit))?{_KIND_FOLLOWS})(?!\p{{L}}){_GAP}\K"
        rf"{_LETTERS}{_OF_THREE_DIGITS}[#\w][\w/-]{{0,60}}\w",
    ),
    Rule(
        "ACCOUNT",
        WORDS,
        rf"(?i)(?:(?:bank |checking |savings )?(?:account|acct)s?|a/c|billing|invoice|guarantor|payment|claim|routing"
        rf"|(?:credit|debit|bank) card|IBAN|sort code|swift|BIC|wallet|card(?= (?:number|no|ending|#)|#)|paypal|venmo"
        rf"|CVV|transaction|receipt|(?:bill|statement){_KIND_FOLLOWS})(?!\p{{L}}){_GAP}\K{_IDENTIFIER}{_MORE}",
    ),
    Rule(
        "PLAN",
        WORDS,
        rf"(?i)(?:HICN?|MBI|policy|member(?:ship)?|subscriber|beneficiary|enrollee|insur(?:ance|ed)?|medicare|medicaid"
        rf"|medi-?cal|tricare|EHIC|OHIP|RAMQ|HCN|health(?: insurance|care)? (?:plan|card)|health ?plan|plan|payer"
        rf"|PCN|Rx ?(?:BIN|GRP|ID)"
        rf"|blue (?:cross|shield)(?: blue shield)?|BCBS|aetna|cigna|humana|kaiser|unitedhealthcare"
        rf"|group(?=\W{{1,3}}(?:id|number|no\b|#))|(?:prior |pre-?)?auth(?:orization)?)"
        rf"(?!\p{{L}})(?: (?:policy|plan|card|member|group|subscriber|beneficiary|health|insurance)){{0,2}}{_GAP}\K"
        rf"{_LETTERS}{_OF_THREE_DIGITS}{_IDENTIFIER}{_MORE}",
    ),
    Rule(
        "LICENSE",
        WORDS,
        rf"(?i)(?:NPI|DEA|UPIN|GMC|NMC|AHPRA|CPSO|CLIA|CAQH|(?:(?:medical|nursing|state|pharmacy|driver'?s?|board) )?"
        rf"(?:licen[sc]e|lic\b\.?|certificat(?:e|ion)|cert|registration|permit)|passport|driver'?s? licen[sc]e"
        rf"|visa(?= ?(?:no|num|#))"
        rf"|green card|(?:badge|employee|staff){_KIND_FOLLOWS}|(?-i:DL))(?!\p{{L}})(?-i: [A-Z]{{2}}(?= ?[:#]))?{_GAP}\K"
        rf"{_LETTERS}{_OF_THREE_DIGITS}{_IDENTIFIER}",
    ),
    Rule(
        "VEHICLE",
        WORDS,
        rf"(?i)(?:VIN|licen[sc]e (?:plate|tag)|(?:number|registration|vehicle|car|truck) plate|plate"
        rf"|vehicle(?: (?:id|reg)\w{{0,12}})?"
        rf"|reg(?:istration)?(?: no\.?| number| mark)|(?:tail|hull|boat)(?: (?:number|no|id"
        rf"|registration)))s?(?!\p{{L}})"
        rf"{_GAP}\K(?-i:(?!\d{{1,2}}(?![\w-]| [A-Z\d]))"
        rf"(?=[A-Z\d-]{{0,9}}[ -]?[A-Z]{{0,4}}\d)[A-Z\d][A-Z\d-]{{0,17}}(?: [A-Z\d-]{{1,8}}(?![\w])"
        rf"){{0,2}})",
    ),
    Rule(  # in lower case, where a metal plate could also be meant
        "VEHICLE",
        WORDS,
        rf"(?i)(?:VIN|licen[sc]e (?:plate|tag)|(?:number|registration|vehicle|car|truck) plate|plate(?: number)?"
        rf"|(?:vehicle|car) reg(?:istration)?|registration (?:no\b\.?|number|mark))(?!\p{{L}}){_GAP}\K"
        r"(?:[a-z]{2}\d\d ?[a-z]{3}|(?=(?:[a-z-]{0,17}\d){3})(?=(?:[\d-]{0,17}[a-z]){2})"
        r"[a-z\d][a-z\d-]{3,16}[a-z\d])(?!\w)",
    ),
    Rule(
        "DEVICE",
        WORDS,
        rf"(?i)(?:serials?|s/n|(?-i:SN)|device|UDI|GTIN|IM[ES]I|ICCID|MEID|lot|batch(?=\W{{1,3}}(?:id|number|no\b"
        rf"|#))|implant|pacemaker"
        rf"|model|asset(?= ?(?:tag|id|no|num|#))(?: tag)?|(?:ICD|defibrillator|(?:insulin )?pump|stent|lead"
        rf"|glucometer|CGM|monitor"
        rf"|prosthesis|generator|catalog){_KIND_FOLLOWS})(?!\p{{L}})(?: serial| model| lot)?{_GAP}\K"
        rf"{_LETTERS}{_OF_THREE_DIGITS}{_IDENTIFIER}{_MORE}",
    ),
    Rule(  # the state, followed by the number on the plate
        "VEHICLE",
        WORDS,
        r"(?i)(?:plates?|tags?|lic)(?: (?:no|number))?\.?[:# ]{1,3}\K(?-i:"
        r"\L<state_codes>[ :#-]{1,2}(?=[A-Z -]{0,6}\d)[A-Z\d]{1,4}[ -]?[A-Z\d]{2,5}(?!\w))",
    ),
    Rule(  # a code in lower case: "card bill-4410"
        "ACCOUNT",
        WORDS,
        r"(?i)(?:card|account|acct)[:# ]{1,2}\K(?-i:[a-z]{2,8}-\d{4,12})(?![\w-])",
    ),
    Rule(
        "PHONE",
        WORDS,
        r"(?i)(?:pager|beeper|pgr|vocera|ascom|intercom|dect)(?: (?:no|number|id))?\.?(?: is)?[:# ]{1,3}\K"
        r"(?:\d{1,3}[- ]\d{4}|\d{4,7})(?![\w-])",
    ),
    Rule(
        "ID",
        WORDS,
        r"(?i)(?:badge|shield|tail|workstation|wkst?s?|terminal|(?:evidence|exhibit|property)(?: (?:bag|tag|kit|item))?"
        r"|docket|citation|warrant|EPO|TRO|locker|transcriptionist|seal|dispatch|(?:run|kit|bag|unit)(?= ?#))"
        r"(?: (?:no|number|num|id)\b\.?)?[:# ]{1,3}\K(?-i:"
        r"(?:[A-Z]{2,8}-)?(?=[A-Z-]{0,10}\d[A-Z-]{0,4}\d)(?!\d{1,2}(?!\w|-)|(?:19|20)\d\d(?![\w-]))[A-Z\d]{1,12}(?:-[A-Z\d]{1,12}){0,4})"
        r"(?![\w%]|\.\d| ?(?:mg|ml|mm|cm|days?|weeks?|years?|hours?|min|patients|times)\b)",
    ),
    Rule(
        "SSN",
        WORDS,
        r"(?i)(?:SSNs?|SS ?#|social(?: security| insurance)?(?: (?:number|no\.?|#))?|ITIN|TIN|(?-i:SIN)|NINO"
        r"|national insurance"
        r"|last (?:four|4)(?: digits)?(?: of (?:the |his |her |their |my )?(?:ssn"
        r"|social(?: security)?(?: number)?))?)(?!\p{L})"
        rf"{_GAP}\K(?=[\dX*x. -]{{0,12}}\d{{2}})[\dX*x][\dX*x. -]{{2,14}}\d\b",
    ),
    Rule(
        "SSN",
        "nino national ni",
        rf"(?i)(?:NINO|national insurance|NI){_GAP}\K[A-Z]{{2}} ?\d\d ?\d\d ?\d\d ?[A-D]\b",
    ),
    Rule(
        "ID",
        WORDS,
        rf"(?i)(?:(?:national |citizen |identity |tax |student |user |donor |photo |image |civil |subject |study "
        rf"|emirates )?(?:ID|identif(?:ier|ication (?:number|no\b|card|#))|identity (?:card|number|no))s?)"
        rf"(?!\p{{L}}){_GAP}\K"
        rf"(?=[\w#./-]{{0,40}}\d[\w#./-]{{0,30}}\d)(?!\d{{1,3}}\.\d{{1,2}}\b)(?![\d.]{{1,3}}(?: ?(?:mg|ml|cm|mm"
        rf"|%)))(?!(?:19"
        rf"|20)\d\d\b(?![-/.]\w)){_IDENTIFIER}",
    ),
    Rule(
        "ID",
        WORDS,
        rf"(?i)(?:aadhaa?r|CPF|CNPJ|DNI|NIE|NIF|CURP|RUT|PESEL|BSN|NRIC|FIN|HKID|AHV|AVS|PAN|personnummer|CPR"
        rf"|(?:tax|VAT)(?= ?(?:no|num|#))|EIN|BVN|SID|UID"
        rf"|GUID|UUID|token|(?:api )?key(?= ?[:=#])|MyKad|CCCD|iqama|OIB|JMBG|CNP|EGN|HETU|kennitala|steuer-?id"
        rf"|INSEE|NIR|CUIT|CUIL|RFC|c[eé]dula"
        rf"|(?:finger|thumb|voice|palm|face)[ -]?(?:print|scan|template)?s?|(?:retinal?|iris|facial|biometric"
        rf"|voice)(?: (?:scan|template|print|hash|record|recognition))?"
        rf"|(?:photo(?:graph)?|image|img|barcode|wristband|band|tag|genome|dna|dicom)s?(?: (?:file|uid"
        rf"|sample))?)(?!\p{{L}}){_GAP}\K"
        rf"(?=(?:[\w#./-]{{0,20}}\d){{5}}){_IDENTIFIER}{_MORE}",
    ),
    Rule(
        "ID",
        WORDS,
        r"(?i)(?:user ?(?:name|id)?|login|password|passcode|passphrase|pwd?|pin|(?:screen|user)[ _-]?name|handle)"
        r"(?: (?:is|was))?[ \t]{0,2}(?:[:=]|\bis\b)[ \t]{0,2}['\"]?\K[^\s'\",;]{3,40}",
    ),
)

_NO_UNIT = (
    r"(?![\w%/]|\.\d| ?(?:mg|ml|mcg|mm|cm|g|kg|units?|days?|weeks?|months?|years?|hours?|hrs?|min"
    r"|patients|times|puffs)\b)"
)
# A plate has letters and digits, in one group or two.
_PLATE = r"(?=[A-Z\d -]{0,8}\d)(?=[A-Z\d -]{0,8}[A-Z])[A-Z\d]{2,4}[ -]?[A-Z\d]{2,4}(?!\w)"
_CALLED_AT = r"(?:no|number|num|reg(?:istration)?|id|#)?\.?[:# ]{1,3}"

_LISTED = (
    Rule(  # "gate code 4491", "machine 8VOS 140772", "PIN 04C7719E"
        "ID",
        WORDS,
        r"(?i)\L<listed_codes>(?![\p{L}\d])(?: (?:no|number|id|sn|ser(?:ial)?|code))?\.?[:# =]{1,3}\K(?-i:"
        r"(?=[A-Z\d-]{0,10}\d{3}|[A-Z\d]{2,5} \d{4})(?!(?:19|20)\d\d(?!\d))"
        r"[A-Z\d]{1,12}(?:[ -](?=[A-Z]{0,2}\d{3})[A-Z\d]{3,12}){0,4})"
        rf"(?![\p{{L}}\d]){_NO_UNIT}",
    ),
    Rule(  # "OP No. 4471/23", "IPD No: 20418", "Token no 0441"
        "ID",
        WORDS,
        r"(?i)(?:OPD?|IPD?|UR|CR|MRD|regd?|regn|bill|token|folio|file|lab|sample|receipt|scan"
        r"|case)\.? ?no\.?[:. ]{1,3}\K(?-i:"
        r"(?=[A-Z/-]{0,8}\d{1,8}[\d/-]{2})[A-Z\d]{1,10}(?:[/-][A-Z\d]{1,10}){0,4})(?!\w)",
    ),
    Rule(  # "incident form 20713", "valuables bag 0661", "ref 4412/23"
        "ID",
        WORDS,
        r"(?i)(?:form(?: no\.?)?[: ]{1,2}\K\d{4,8}|(?:valuables|property|belongings|patient'?s?"
        r"|evidence)? ?bag(?: no\.?| #)?"
        r"[: ]{1,2}\K0\d{2,5}|(?:our |your )?ref(?:erence)?\.?(?: no\.?)?[: ]{1,2}\K\d{3,7}/\d{2,4})(?![\w%/]|\.\d)",
    ),
    Rule("VEHICLE", Digits(1, 1, "a"), r"(?<![\w.-])\d[A-Z]{3}[- ]\d{3}(?![\w-])"),
    Rule("VEHICLE", CODE, r"(?<![\w.-])N\d{2,4}[A-Z]{2}(?![\w-])"),
)

_IN_GROUPS = (
    Rule(  # "hosp no S 55 80 214", "sn 39 882 114", "policy BHP 3307 61 02"
        "ID",
        WORDS,
        rf"(?i)\L<number_cues>(?![\p{{L}}\d]){_GAP}\K(?-i:(?:[A-Z]{{1,5}}[ -]?)?"
        r"(?=\d(?:[ -]?[A-Z]?\d){4})\d{1,6}[A-Z]{0,2}(?:[ -]\d{1,6}[A-Z]{0,2}){1,5}(?: [A-Z](?!\w))?)"
        rf"{_NO_UNIT}(?! ?[-–] ?\d)",
    ),
    Rule(  # a code of letters and digits in any case: "sn pm-20-66719", "old file no kt/20817", "lot PH1K0822 41"
        "ID",
        WORDS,
        rf"(?i)(?:\L<number_cues>|smp|samp|spec|xmatch|crossmatch|barcode)(?![\p{{L}}\d]){_GAP}\K"
        r"(?=(?:[a-z/-]{0,8}\d){4})(?!covid|sars|mm/|\d)(?:[a-z]{1,4}[/-]){0,2}[a-z]{0,4}\d[\da-z]{1,12}"
        r"(?:[-/][\da-z]{1,8}){0,3}(?: \d{2,4}(?![\w%/.:-]))?"
        rf"(?![\w%/]|\.\d){_NO_UNIT}",
    ),
    Rule(  # "ems run 22-10443", "health plan id zq 7781 220"
        "ID",
        WORDS,
        r"(?i)(?:(?:run|incident|cad|epcr|pcr|call|report|member id|policy|id)(?: (?:no|num|number))?\.?)[:# ]{1,2}\K"
        r"(?:\d{2,4}-\d{4,7}|[a-z]{1,3} \d{3,5}(?: \d{2,5}){1,3})(?![\w%/-]|\.\d)",
    ),
    Rule(  # "#W88 120 44"
        "ID",
        Signs(("#",)),
        r"(?<![\w.#])# ?(?=[A-Z]{0,3}\d(?:[ -]?\d){4})[A-Z]{0,3}\d{1,6}(?:[ -]\d{1,6}){1,5}(?![\w%/]|\.\d)",
    ),
    Rule(  # one group with letters: "employee E 4471", "s/n RNB 448812 H", "tag WG 0091"
        "ID",
        WORDS,
        r"(?i)(?:employee|tag|wristband|band|bracelet|s/?n|serial|badge|regn?|accession|specimen|sample|kit|policy|member"
        rf"|rpt|report)(?!\p{{L}}){_GAP}\K(?-i:[A-Z]{{1,4}}\d{{0,2}}[ -]?\d{{2,8}}(?: [A-Z](?!\w))?){_NO_UNIT}",
    ),
    Rule(  # "699 956 915": three values of a course are smaller, or round
        "ID",
        Digits(3, 3, "9"),
        r"(?<![\w.,/-])(?<![\d%] )(?!(?:\d\d0 ){2}\d\d0(?!\d))"
        r"(?:\d{3} \d{3} \d{4}|(?=0|\d{0,8}[6-9]\d\d |[\d ]{0,8}[6-9]\d\d(?!\d))\d{3} \d{3} \d{3})"
        rf"(?!(?: \d| ?[-/–] ?\d))(?=[^\d]|$){_NO_UNIT}",
    ),
    Rule("ID", Digits(2, 2, "-"), r"(?<=(?<![\w.-])(?P<since>[A-Z]{1,4}-))\d\d-\d{4,7}(?![\w-])"),
    Rule(  # "our ref MC/HOB/5518"
        "ID",
        WORDS,
        r"(?i)(?:our|your|their|my)? ?ref(?:erence)?s?\.?(?: no\.?)?[: ]{1,3}\K(?-i:"
        r"(?=[\w/.-]{0,20}\d{2})(?=[\d/.-]{0,20}[A-Z])[A-Z\d]{1,8}"
        r"(?:[/.-][A-Z\d]{1,10}){1,5})(?!\w)",
    ),
    Rule(  # "donor AKHX217", "subject 0034"
        "ID",
        WORDS,
        r"(?i)(?:donor|recipient|subj(?:ect)?|participant|volunteer|proband|inmate|prisoner|detainee|client|enrollee)"
        r"(?: (?:id|no|number))?\.?[:# ]{1,2}\K(?-i:[A-Z]{2,6}-?\d{3,8}|0\d{2,5}(?!\d))(?![\w%/]|\.\d)",
    ),
)
_OF_VEHICLES = (
    Rule(  # "grey Corolla, plate unknown", "van YD66 HHC"
        "VEHICLE",
        Listed("vehicles"),
        rf"(?i)[\w-]{{2,12}}(?:,? (?:plates?|tag|reg|with|is|was|\()){{0,2}}[:, (]{{1,2}}\K(?-i:{_PLATE})"
        r"(?! (?i:mg|ml|mm|cm|years?|days?|hours?)\b)",
    ),
    Rule(
        "VEHICLE",
        WORDS,
        r"(?i)(?:reg|regn|plates?)[:. ]{1,3}\K(?-i:[A-Z]{2}\d\d ?[A-Z]{3}|\d[A-Z]{3} ?\d{3}|[A-Z]{3} \d{3,4})(?!\w)",
    ),
    Rule(  # "rego 482 XQB"
        "VEHICLE",
        WORDS,
        r"(?i)rego(?: (?:no|number|plate))?[:. ]{1,3}\K(?-i:(?=[A-Z\d -]{0,8}\d)[A-Z\d]{2,4}(?:[ "
        r"-][A-Z\d]{2,4})?)(?!\w)",
    ),
    Rule(
        "VEHICLE",
        WORDS,
        r"(?i)(?:aircraft|helicopter|helo|chopper|tail|plane|jet|air ?ambulance|medevac|flown (?:by|on|in))"
        rf"(?: the)? ?{_CALLED_AT}\K(?-i:N\d{{1,5}}[A-Z]{{0,2}}|[A-Z]{{1,2}}-[A-Z\d]{{3,5}})(?![\w-])",
    ),
    Rule("ID", WORDS, r"(?i)flight(?: (?:no|number))?\.?[:# ]{1,2}\K(?-i:[A-Z]{2} ?\d{2,4})(?!\w)"),
    Rule(  # "Callsign MEDIC 417"
        "ID",
        WORDS,
        r"(?i)(?:call ?signs?|c/s)[: ]{1,3}\K\p{L}{2,12}(?: \p{L}{2,12})?[ -]\d{1,3}(?!\w)",
    ),
    Rule(
        "ID",
        Listed("ambulances"),
        r"(?i)(?<=\b(?:by|ems|via|per|crew|aboard|amr|unit|with) )[\p{L}-]{5,12}(?: (?:flight|unit))? \d{1,3}"
        rf"{_NO_UNIT}|(?i:[\p{{L}}-]{{5,12}}(?: (?:flight|unit))? \d{{1,3}})"
        r"(?=,? (?i:crew|on scene|at scene|arrived|transported|en ?route|eta|dispatched|responded)\b)",
    ),
)
# Names under which somebody logs in or writes on the internet.
_USERS = (
    Rule(
        "ID",
        WORDS,
        r"(?i)(?:user ?(?:name|id)?|log(?:ged)?[ -]?in(?: as)?|screen ?name|handle|insta(?:gram)?|snap(?:chat)?|twitter"
        r"|tiktok|skype|discord|telegram|reddit|account name)[:,]?(?: (?:is|was|name|id|handle))?[: ]{1,2}[\"'(@]?\K"
        r"(?!v?\d)(?=[\w.:-]{0,30}(?:[\d_]|\p{L}[.:]\p{L}))\p{L}[\w.:-]{2,30}\w",
    ),
    Rule(
        "ID",
        WORDS,
        r"(?i)(?:gamer ?tag|screen ?name|user ?name)[: ]{1,2}(?:is )?[\"'(@]?\K(?!(?:and|or|is|was|for|of|on)\b)"
        r"[\w.-]{3,30}\w",
    ),
    Rule(
        "ID",
        WORDS,
        r"(?i)(?:password|passcode|passphrase|pwd?)[: ]{1,2}\K(?=[^\s,;]{0,20}[\d!@$%^&*])[^\s,;]{5,40}",
    ),
    Rule(  # "printed by: RDESILVA3", "tr tmk04"
        "ID",
        WORDS,
        r"(?i)(?:(?:printed|typed|entered|keyed|scanned|transcribed|dictated|logged|edited)(?: by)?|transcriptionist"
        r"|tr)(?::? |:)\K\p{L}{3,14}\d{1,5}(?![\w.])",
    ),
)

# Excludes trials, articles, genes, and counts of pregnancies.
_NOT_PUBLISHED = (
    r"(?!G\d{1,2}P\d|(?:NCT|PMC|PMID|ISRCTN|GSE|PROSPERO"
    r"|CRD|COVID|RS|ACTRN|CTRI|DRKS|UMIN|JPRN|ENST|ENSG)\d)"
)

_BY_FORM = (
    Rule("ID", CODE, r"(?<!\w)[A-Z]\d{4} \d\d \d{6}(?: \d\d| [A-Z\d])?(?!\w)"),  # a blood unit
    Rule(
        "ID", Digits(2, 4, "-"), r"(?<![\w./-])\d{2,4}-[A-Z]{1,4}-\d{3,8}(?![\w-])"
    ),  # a court case
    Rule(
        "SSN",
        Digits(3, 3, "-.9"),
        r"(?<![\w/.])(?<!\d-)\d{3}(?P<j>[- .])\d{2}(?P=j)\d{4}(?![\w-]|\.\d)",
    ),
    Rule("SSN", Digits(3, 3, "-"), r"(?<![\w/.-])9\d\d-[5-9]\d-\d{4}(?![\w-])"),
    Rule("SSN", WORDS, r"(?i)X{3}[- ]?X{2}[- ]?\K\d{4}\b"),
    Rule("SSN", Digits(4, 4), r"(?<=\*{2,3}[- ]?\*{2}[- ]?)\d{4}\b"),
    Rule(
        "SSN", CODE, r"(?<!\w)(?![DFIQUV])[A-Z](?![DFIQUVO])[A-Z] ?\d\d ?\d\d ?\d\d ?[A-D](?!\w)"
    ),  # British
    Rule(
        "VEHICLE", Digits(1, 10, "a"), r"(?=[A-HJ-NPR-Z\d]{0,16}[A-HJ-NPR-Z])[A-HJ-NPR-Z\d]{17}\b"
    ),
    Rule("VEHICLE", CODE, r"(?<!\w)[A-HJ-NPR-Z\d]{17}\b"),
    Rule(  # the same in lower case
        "VEHICLE",
        Digits(1, 10, "a"),
        r"(?=(?:[a-hj-npr-z]{0,16}\d){6})(?=(?:\d{0,16}[a-hj-npr-z]){3})[a-hj-npr-z\d]{17}\b",
    ),
    Rule(  # lower-case letters followed by digits, as typed in haste; genes and trials have fewer
        "ID",
        CODE,
        r"(?<![\w.-])(?!(?:rs|ss|nct|pmc|pmid|doi|gse|grch|chr|ens[a-z]|uniprot|covid|id)[-\d])[a-z]{1,4}\d{6,26}(?!\w)",
    ),
    Rule(
        "ID",
        Digits(6, 10),
        r"(?<=(?<![\w.-])(?P<since>(?!(?:rs|nct|pmc|pmid|doi|gse|chr|covid)-)[a-z]{1,4}-))\d{6,20}(?![\w-])",
    ),
    # Unique device identifiers with GS1 application identifiers, and those of HIBCC.
    Rule(
        "DEVICE",
        Digits(2, 10, ")a* "),
        r"(?<=(?P<since>\(?))01\)?\d{14}(?:\(?(?:10|11|17|21|240)\)?[\w./-]{1,20}){0,4}",
    ),
    Rule("DEVICE", CODE, r"(?<=(?P<since>\+))[A-Z]\d{3}[A-Z\d]{2,18}/[$\w+./-]{2,30}"),
    # Object identifiers of DICOM and others.
    Rule("ID", Digits(1, 1, "."), r"(?<![\w.])[0-2](?:\.\d{1,39}){5,30}(?![\w])"),
    Rule(
        "ID",
        Digits(4, 10),
        r"(?<=[A-Z][-/])(?<=(?<![\w.#-])(?P<since>(?:# ?)?[A-Z]{1,6}[-/]))(?!\d{2}00(?!\w"
        r"|-))\d{4,20}(?:[-/]?[A-Z\d]{1,20}){0,3}(?![a-z])",
    ),
    Rule(
        "ID",
        CODE,
        rf"(?<![\w.-]){_NOT_PUBLISHED}[A-Z]{{1,6}}\d{{2,6}}-\d{{4,20}}(?:[-/]?[A-Z\d]{{1,20}}){{0,3}}(?![a-z])",
    ),
    Rule("ID", CODE, rf"(?<![\w.-]){_NOT_PUBLISHED}[A-Z]{{1,4}}\d{{5,20}}(?!\w)"),
    Rule(
        "ID", CODE, rf"(?<![\w.-]){_NOT_PUBLISHED}(?=[A-Z\d]{{0,40}}\d{{4}})[A-Z\d]{{7,60}}(?!\w)"
    ),
    Rule(
        "ID",
        CODE,
        r"(?<![\w.-])(?:[A-Z]{2,4}-)?(?=[A-Z\d]{0,12}\d)[A-Z\d]{2,12}(?:-(?=[A-Z\d]{0,12}\d)[A-Z\d]{2,12}){2,5}(?!"
        r"[\w-])",
    ),
    Rule(
        "ID",
        Digits(1, 10, "a"),
        r"(?<![\w.-])(?=[A-Z\d]{0,40}[A-Z])(?=[A-Z\d]{0,40}\d{4})[A-Z\d]{7,60}(?!\w)",
    ),
    Rule(
        "ID",
        Digits(1, 10),
        r"(?<=#)(?<=(?<![\w.#-])(?P<since>#))(?:\d{3,40}|(?=\d{1,4}[A-Z-]{1,3}\d{2}))[A-Z\d-]{0,30}\b",
    ),
    Rule("ID", CODE, r"(?<=#)(?<=(?<![\w.#-])(?P<since>#))[A-Z]{1,6}\d{3,20}[A-Z\d-]{0,20}\b"),
    Rule(
        "ID", Digits(7, 10), r"(?<![\w.,$€£-])(?<!\d-)(?!\d{4,6}000(?!\d))\d{7,60}(?![\w]|[.,]\d)"
    ),
    Rule(  # "Medicare 5550 12345 1 / 3"
        "PLAN",
        WORDS,
        rf"(?i)medicare(?!\p{{L}}){_GAP}\K\d{{4}} \d{{5}} \d(?: ?[/-] ?\d)?(?!\d)",
    ),
    Rule(
        "ID", Digits(2, 4, "-"), r"(?<![\w./-])\d{2,4}-[A-Z]{2,4}-\d{2,4}-\d{3,6}(?![\w-])"
    ),  # of a court
    Rule("ID", Digits(2, 6, "-"), r"(?<![\w./-])\d{2,6}(?:-\d{2,6}){2,6}(?![\w-])"),
    Rule(
        "ID",
        Digits(4, 8, "-"),
        r"(?<![\w./-])(?!\d+00-\d+00\b)(?:\d{5,6}-\d{4,6}|\d{4,8}-(?!IU|MG|ML)[A-Z]{1,4}\d{0,4})(?!\w|-\d)",
    ),
    Rule("ID", Digits(5, 8, "a"), r"(?<![\w./-])(?:\d{5,8}[A-Z]{2,3}|\d{6,8}[A-Z])(?![\w-])"),
    Rule("ID", Digits(4, 4, "9"), r"(?<![\w./-])\d{4}(?: \d{4}){2,4}(?![\w-])"),
    # Identity numbers of Brazil, Chile, Switzerland, Belgium, Scandinavia, Hong Kong, Spain, Canada, France.
    Rule("ID", Digits(3, 3, "."), r"(?<![\w.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?!\w)"),
    Rule("ID", Digits(2, 2, "."), r"(?<![\w.-])\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}(?!\w)"),
    Rule("ID", Digits(1, 2, "."), r"(?<![\w.-])\d{1,2}\.\d{3}\.\d{3}-[\dkK](?!\w)"),
    Rule("ID", Digits(3, 3, "."), r"(?<![\w.-])756\.\d{4}\.\d{4}\.\d{2}(?!\w)"),
    Rule("ID", Digits(2, 2, "."), r"(?<![\w.-])\d\d\.\d\d\.\d\d-\d{3}\.\d\d(?!\w)"),
    Rule("ID", Digits(6, 8, "-*"), r"(?<![\w./-])\d{6}(?:\d\d)?[-+]\d{3}[\dA-Z](?!\w)"),
    Rule("ID", CODE, r"(?<!\w)[A-Z]{1,2}\d{6}\([\dA]\)"),
    Rule("ID", Digits(1, 8, ".-a"), r"(?<![\w.-])\d{1,2}\.?\d{3}\.?\d{3}-?[A-HJ-NP-TV-Z](?!\w)"),
    Rule(
        "ID",
        Digits(1, 10, "9a"),
        r"(?<![\w.-])[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3}(?: ?\d\d)?(?!\w)",
    ),
    Rule(
        "ID",
        CODE,
        r"(?<!\w)(?=[A-Z]{2}\d{2} ?[A-Z\d]{4} ?\d)[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,8}(?: ?[A-Z\d]{1,3})?(?!\w)",
    ),  # IBAN, even with a wrong checksum
    Rule("ID", LONG, r"(?i)(?<![\w-])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?!\w)"),
    Rule("ID", LONG, r"(?<![\w+/])(?=(?:[A-Za-z+/_-]{0,60}\d){3})[A-Za-z\d+/_-]{80,}={0,2}"),
    Rule("ID", LONG, r"(?i)(?<![\w+/])(?=[0-9a-f]{0,32}\d[0-9a-f]{0,32}\d)[0-9a-f]{32,64}(?!\w)"),
    # Files named after their content: photographs, scans, recordings.
    Rule(
        "ID",
        ANYWHERE,
        r"(?i)(?<![\w.-])[\w-]{0,60}\d[\w-]{0,60}\.(?:jpe?g|png|gif|tiff?|bmp|heic|dcm|dicom|nii(?:\.gz)?|wav|mp3"
        r"|m4a|mp4|mov|avi|pdf"
        r"|docx?|xlsx?|hl7|xml|svs)\b",
        (
            ".jp",
            ".png",
            ".gif",
            ".tif",
            ".bmp",
            ".heic",
            ".dcm",
            ".dicom",
            ".nii",
            ".wav",
            ".mp",
            ".m4a",
            ".mov",
            ".avi",
            ".pdf",
            ".doc",
            ".xls",
            ".hl7",
            ".xml",
            ".svs",
        ),
    ),
    Rule(
        "NAME",
        ANYWHERE,
        r"(?i)(?:\b[a-z]:\\(?:Users|Documents and Settings)\\|/(?:home|Users)/)\K[\w.-]{2,40}",
        ("\\users", "/home/", "/users/", "settings\\"),
    ),
)

RULES = (*_CUED, *_LISTED, *_IN_GROUPS, *_OF_VEHICLES, *_USERS, *_BY_FORM)
