"""The words that state an answer, as patterns over lower-case text in which options' references are marked."""

import re

from agent.reading.choice.references import LETTER_SIGNS, PADDING, SIGNS

BECAUSE = r"(?:because|since|as|due|for|given|based|which|where|rather|instead)\b"
# What may follow a letter that refers to an option in running text.
_PREPOSITION = r"(?:for|in|with|here|by|from|per|on|at|over|not)\b"
END = (
    rf"(?=\s?$|\n|\s?[.,;:!)\]}}\"'<✓](?!\w)|\s[-(\[✓]|\s(?:{BECAUSE}|{_PREPOSITION})"
    rf"|\s\w{{1,12}}=|\sto\s(?=[A-J{SIGNS}](?!\w))|\s#\s|\si\.?e\b|\s(?:and|but)\s(?:not|the|it|this|that|because)\b|\s?[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af])"
)
_MARK_OR_END = r"(?=\s?$|\n|\s?[.,;:!)\]}\"'](?!\w))"
# "C. difficile" is a name, "C. because ..." and "C. the drug ..." are not.
NOT_A_NAME = (
    r"(?!\.\s(?!(?:because|since|as|the|this|it|its|in|i|explanation|reason\w*|here|given|so|while|although|not|which"
    r"|correct|is|for|due|a|an|and|or|of|these|patients?|all|both|other|others|no|none|wrong|right|most|only)\b)[a-z])"
)
LETTER = rf"(?:(?P<capital>[A-Z]){NOT_A_NAME}{END}|(?P<small>[b-hj-z]){NOT_A_NAME}{END}|(?P<vowel>[ai]){_MARK_OR_END})"
MARKED = rf"(?P<sign>[{SIGNS}]){PADDING}*"
NAMED_OPTION = re.compile(
    rf"{MARKED}|(?<![\w'-])(?P<capital>[B-HJ](?![\w'-])|A(?=[)\].:,;!?]|\s?$|\n|\s(?:is|and|or|but)\b))"
)
CALLED = r"(?:(?:the\s)?(?:correct\s|best\s|right\s)?(?:option|choice|answer|letter|number)\s)"
REFERENCE = re.compile(
    rf"(?:(?i:{CALLED})|(?i:the|an?)\s(?=[\"'(]?[{SIGNS}])){{0,2}}[\"'(\[<{{]{{0,2}}(?:{MARKED}|{LETTER})"
)
"""A reference to an option where one is expected."""

_NEW_SUBJECT = r"\s(?:is|was|would|can|could|has|does|seems|isn't|may|might)\b"
_SECOND_LETTER = (
    r"(?P<capital>[A-Z]|[b-h](?=\s?[.,;)]|\s(?:and|or|are)\b))"
    rf"(?=\s?$|\n|\s?[.,;:!)\]/&+\"'](?!\w)|\s(?:and|or|are|both)\b|\s[-(\[]|\s{BECAUSE})"
)
JOINED = re.compile(
    r"[)\]\"'.]?(?:[ ]?,[ ]?(?:and/or|and|or|vs\.?|versus)[ ]|[ ]?[,;][ ]?|[ ]?[/&+|][ ]?"
    r"|[ ](?:and/or|and|or|vs\.?|versus|as[ ]well[ ]as)[ ]"
    r"|[ ]or,?[ ])(?:(?:also|possibly|maybe|perhaps|even|either|both|else|potentially)[ ]){0,2}"
    rf"(?:(?i:option|choice|answer)[ ]|(?i:the|an?)[ ](?=[{SIGNS}]))?[(\[\"']?"
    rf"(?:{MARKED}(?!{_NEW_SUBJECT})|{_SECOND_LETTER})"
)
"""A second reference joined to the first one: "B and C", "A/B", "B, C or D"."""
OR_MORE = re.compile(r"[)\]\"']?,?\s(?:or|and/or)\s(?!more\b|rather\b|in\sother\b)", re.IGNORECASE)
"""An alternative that is no option: "B or something else"."""

ALSO_RIGHT = re.compile(
    rf"[^.!?\n]{{0,60}}?\b(?:but|although|though|however|while|yet)\s[^.!?\n]{{0,20}}?(?:[{SIGNS}]{PADDING}*|\b[A-Z])\s"
    r"(?:(?:fits|matches|explains|works|seems|looks)\s(?:it\s)?(?:better|best)|(?:is|are)\s(?:also|equally|just\sas|possible|plausible|reasonable|correct|acceptable|better|right)"
    r"|(?:could|may|might|would|can)\s(?:also\s)?(?:be|work|apply)|also\b)"
)
"""Another option that is called right too: "B, but D is also correct"."""

OTHER_CASE_TOO = re.compile(
    r"[)\]\"']?,?\s(?:in|for|with|during|if|when)\s[^.;!?\n]{1,60}?(?:,\s(?:and|but|while|or)?\s?|\s(?:and|but|while|or)\s)"
    rf"(?:it(?:'s|\sis)\s)?(?:(?i:option|choice)\s)?[(\[\"']?(?:[{SIGNS}]{PADDING}*|[A-HJ])[)\]\"']?"
    r"\s(?:in|for|with|during|if|when|otherwise)\s"
)
"""Another option that is given for another case: "B in adults and C in children"."""

_NOUN = (
    r"(?:answer|answr|anwser|awnser|option|(?<!of\s)choice|letter|(?:fitting|right|correct|best|appropriate)\s(?:label|word)|response|diagnosis|conclusion|solution|pick|selection|verdict|decision|prediction"
    r"|guess)"
)
_IS = (
    r"(?:'s(?=\s)|[\"']?\s?(?:::?|=|->|→|>)|\s-(?=\s)|\s(?:is|was|would\sbe|should\sbe|must\sbe|has\sto\sbe|will\sbe|remains|becomes"
    r"|seems\sto\sbe|appears\sto\sbe|seems|being))"
)
# "The answer to this question is", "Letter of the best option (A, B, C or D):"
_OF_WHAT = (
    r"(?:\s(?:to|for|in|of|here|on)(?:\s(?:\w{1,20}[\s'-]){0,6}?\w{1,20})?)?"
    r"(?:\s(?:i\s(?:would\s)?(?:choose|pick|select|chose)|that\sfits(?:\sbest)?|to\schoose))?"
    r"(?:\s?\([a-z](?:(?:,\s?|\sor\s|,\sor\s|/)[a-z]){1,9}\))?"
)
_FILLER = (
    r"(?:[\s,]?(?:most\slikely|therefore|thus|clearly|probably|likely|indeed|simply|definitely|certainly|obviously|still"
    r"|actually|in\sfact|hence|then|best|option|choice|statement|letter|number|answer|also|✓|[:;])){0,6},?\s?"
)
STATED = re.compile(
    rf"\b(?:{_NOUN}{_OF_WHAT}{_IS}|ans(?:wer)?\s?(?:[.:=-]|is\b)(?:\s?(?:is\b|[:-]))?"
    r"|(?:correct|right|best|output|result|final|key|chosen|selected|final\spick|my\svote)\s?(?:[:=]|->|→))"
    rf"{_FILLER}"
)
NOT_BUT = re.compile(
    rf"\b{_NOUN}{_OF_WHAT}\s(?:is|was)\snot\s(?:the\s)?(?:option\s)?[(\[\"']?(?:[{SIGNS}]{PADDING}*|[a-j])[)\]\"']?,?"
    r"\sbut\s(?:rather\s|instead\s)?"
)
"""An answer that is set against another: "the answer is not A but"."""
_CHANGED = (
    r"(?:(?<=let\sme\s)change|(?<=i'll\s)change|(?<=i\swill\s)change|(?<=so\si\s)change|(?<=[.,:-]\s)chang(?:e|ing)|(?<=no,\s)changing|(?<=i'm\s)changing)"
    r"\s(?:that|it|this|my\s(?:answer|choice|pick))\s(?:from\s[\"']?[a-j][\"']?\s)?to\s"
)
CORRECTED = re.compile(
    rf"{_CHANGED}(?=[\"'(]?(?:[{SIGNS}]|[a-j][\s.,;!)]|[a-j]$|(?:option|choice)\s))|"
    r"(?:^|(?<=\n)|(?<=[.!?,;:-]\s))(?:(?:wait|hold\son|sorry|hmm+|oops|ok(?:ay)?)\b[\s,.:!-]{1,4}){0,2}"
    r"(?:actually|no|sorry|on\s(?:second\sthoughts?|reflection)|but(?=\sit(?:'s|\sis)\s)|correction|edit|rather|make\sthat|i\smean|i\smeant)\b[\s,:-]{1,3}(?:(?:actually|wait|rather|i\smean)\b[\s,:-]{1,3}){0,2}"
    r"(?:(?:it|that|this)(?:'s|\sis|\sshould\sbe|\smust\sbe|\swould\sbe|\shas\sto\sbe)\s|make\s(?:it|that)\s)?(?=[\"'(]?(?:"
    rf"[{SIGNS}]|[a-z][.,;!)]|[a-z]$|[a-z]\n|(?:the\s)?(?:option|choice|answer)\s))"
)
"""A correction, whose option counts instead of the one before: "no, it is"."""
FINAL = re.compile(rf"\bfinal\s{_NOUN}(?:{_OF_WHAT}{_IS})?{_FILLER}")
_CHOOSE = (
    r"(?:choose|choosing|chose|prefer(?:red)?|select|selecting|selected|pick|picking|picked|stay\swith|staying\swith|stand\sby|favou?r|go\sfor|go\swith|going\swith|opt\sfor|opted\sfor|answer(?:\swith)?|say|settle\son|decide\s(?:on|for)"
    r"|lean\s(?:towards?|to)|leaning\s(?:towards?|to)|lean|stick\swith|vote\s(?:for|goes\sto)|mark|tick|circle|submit|commit\sto"
    rf"|(?:recommend|advise|suggest)(?=\s[{LETTER_SIGNS}])|bet\son|conclude(?:\sthat)?(?:\sit(?:'s|\sis))?|end\sup\swith|(?:put|lock)\s(?:me\s)?(?:down|in)(?:\sfor)?"
    r"|(?:think|believe)(?:\sthat)?\sit(?:'s|\sis|\sshould\sbe|\smust\sbe))"
)
# "I", "I'd", "I have to"
_I = r"i(?:'d|'ll|'m|\swould|\swill|\smust|\sam|\scan|\shave\sto)?"
# "I'd still pick", "I will therefore go with"
_BEFORE_CHOOSE = (
    r"(?:\s(?:\w{3,12}ly|going\sto|still|also|thus|therefore|hence|just|now|then|rather|have\sto"
    r"|go\sahead\sand)){0,2}"
)
# "Going with", "put me down for"
# "The key says"
_KEY = r"the\s(?:answer\s|official\s)?key\s(?:says|has|gives|lists|reads)"
_CHOOSE_WITHOUT_I = r"(?:going|go|stick|sticking|settling|settle|ending\sup)\s(?:with|on|for)|put\sme\sdown\s(?:for|as)"
# "My vote goes to"
_VOTE = r"my\s(?:\w{1,12}\s)?(?:vote|money|bet|pick|choice)\s(?:goes\s(?:to|for)|is\son|would\sbe\son|goes\swith)"
# "I'd take", but not "I take warfarin"
_TAKE = rf"i(?:'d|'ll|\swould|\swill){_BEFORE_CHOOSE}\stake"
# "If you force me:", "forced to choose,"
_FORCED = (
    r"(?:if\s(?:you\s(?:force|press|push)\sme|(?:i\s(?:am|was|were)\s|i'm\s)?(?:forced|pressed|pushed))|forced|gun\sto\smy\shead)"
    r"(?:\sto\s(?:choose|pick|decide|guess|answer))?(?:[:,]|\s-)"
)
CHOSEN = re.compile(
    rf"\b(?:{_FORCED}|{_I}{_BEFORE_CHOOSE}\s{_CHOOSE}|{_TAKE}|{_CHOOSE_WITHOUT_I}|{_KEY}|{_VOTE}"
    rf"|(?:so|therefore|thus|hence),?\s(?:choose|pick|select)"
    rf"|(?:^|(?<=\n)|(?<=[.;:]\s)|(?<=\s-\s))(?:just\s)?(?:choose|pick|select|mark|tick)(?=\s[\"'(]?(?:[{LETTER_SIGNS}]|[a-z](?:[.!]|$|\n)))){_FILLER}(?<=[\s:])"
)
"""A choice: "I would go with", "my vote goes to"."""
# Verbs after which an option is no answer: "I see why you thought of", "I'd expect sweating in".
_NO_ACTION = (
    r"not\b|do\b|don't|see\b|know\b|understand|used\b|can\b|cannot|can't|could|expect|consider|thought|wonder|worry|fear|agree|hope"
    r"|would|will\b|was\b|had\b|did|never|first|am\b|have\b|rule\b|ruled|exclude|avoid|stop|hold|withhold|withdraw|discontinue|omit|hesitate|question|ask|wait|like\b|love\b|remember|gave\b|read\b|heard\b|saw\b|met\b|\w+ed\b"
)
ACTION = re.compile(
    rf"\b(?:i|we)(?:(?:'d|'ll|\swould|\swill|\smust|\sshould)?{_BEFORE_CHOOSE}\s(?!{_NO_ACTION})\w{{3,14}}"
    rf"|(?:'m|'re|\sam|\sare){_BEFORE_CHOOSE}\s(?!{_NO_ACTION})\w{{2,11}}ing)\s"
)
"""What somebody does about a case: "I would start him on", "I'd attribute the difference to"."""
_MY_CHOICE = (
    r"my\s(?:(?:final|own|first|clear|suggested|recommended|proposed|preferred|top|best)\s){0,2}"
    r"(?:answer|choice|pick|vote|guess|bet|call|verdict|conclusion|diagnosis|recommendation|suggestion|(?:next\s)?step(?=\s?[.,;!]|$|\n|\shere))"
)
DECIDED = re.compile(
    r"\s(?:gets?\s(?:my\s(?:vote|tick|pick)|the\snod)|wins\b|takes\s(?:it|the\s(?:prize|cake|crown))\b|it\sis(?=\s?[.!]|$|\n)|remains?(?=\s?[.!]|$|\n)"
    r"|(?:is|are)\s(?:the\sculprit|to\sblame|the\s(?:clear\s)?winner(?=\s?[.,;!]|$|\n)|the\sway\sto\sgo)"
    r"|(?:is|are)\s(?:by\sfar\s|far\s|much\s|clearly\s)(?:the\s)?(?:likelier|likeliest|more\s(?:likely|plausible|probable)|better)(?=\s?[.,;!]|$|\n|\shere)"
    rf"|(?:is|are|would\sbe|remains)\s{_MY_CHOICE}"
    r"|(?:is|are)\s(?:therefore\s|clearly\s)?(?:what|the\s(?:one|option|statement|choice))\s(?:that\s|which\s)?"
    r"(?:goes\swrong|(?:is\s)?(?:needed|wanted|missing|meant)|i(?:'d|'ll|'m|\sam|\swould|\swill)?\s(?:\w{3,12}ly\s)?"
    r"(?:choose|choosing|pick|picking|take|taking|mark|go\s(?:for|with)|going\s(?:for|with)|write|say|answer|submit|give|do)"
    r"|we\s(?:need|want|are\slooking\sfor)))"
    rf"|[.!,]\s(?:and\s)?(?:that|this)(?:'s|\sis)\s{_MY_CHOICE}"
)
"""What follows an option that is chosen: "gets my vote", "is the one I would mark"."""
ONLY_LEFT = re.compile(
    rf"\bonly\s(?:option\s|statement\s|the\s)?(?:{MARKED}|(?P<small>[a-j]))\s"
    r"(?:remains|is\s(?:still\s)?left|survives|stands|holds)(?=\s?[.,;!]|\s?$|\n|\s(?:and|as|because|here)\b)"
)
"""The last option that is left: "only c remains"."""
OTHER_LABEL = re.compile(
    r"\W{0,4}(?:(?:known|current|home|previous|past|regular|usual|prior|other|drug)\s){0,2}"
    r"(?:allerg\w{1,4}|medications?|meds|history|pmh|side\seffects?|contraindications?|risk\sfactors?|exam|labs?|vitals"
    r"|(?:rx|treatment|therapy)\sso\sfar)\b[^:\n]{0,20}(?::|=|→|->|\s-\s)"
)
"""A label before an option that is no answer: "Allergies:", "Current medication:"."""
SAID_BY_OTHERS = re.compile(
    r"\b(?:(?:i|we|they)\sused\sto|(?<!\bfor\s)many|most\s(?:would|people|students|doctors|physicians|clinicians|colleagues)|some\speople|others|colleagues?|textbooks?|books|students?"
    r"|(?:you|one)(?:'d|\swould|\smight)\sthink|tempt\w*|(?:user|patient)\s(?:wrote|writes|says|said|asks|asked))\b"
)
"""What others say or said before: "the textbooks say", "I used to give"."""
_CLAUSE_START = r"(?:^|(?<=\n)|(?<=[.,;:!?-]\s)|(?<=\s)(?=so\s))"
# "This leaves only", "which points to"
_LEAVES = (
    r"(?:that|this|which)\s(?:leaves|means|makes|points\sto|suggests|indicates|gives)(?:\s(?:us|only|me))?(?:\swith)?"
    r"|leaving(?:\s(?:us|only|me))?(?:\swith)?"
)
_SO = (
    r"(?:so|thus|hence|therefore|overall|ultimately|consequently|accordingly|finally|∴|=>"
    r"|→|->|⇒|in\s(?:conclusion|summary|short|the\send)|to\sconclude|conclusion|yes|on\sbalance|all\sin\sall|taken\stogether"
    r"|but\s(?=(?:probably|most\slikely|likely|i\sthink|i\sbelieve)\b)"
    rf"|tl;?dr|by\selimination|by\s(?:process|exclusion)(?:\sof\selimination)?|{_LEAVES})"
)
# "so it must be", "therefore most likely the"
_AFTER_SO = (
    r"(?:(?:so|then|thus|therefore|hence|clearly|only|probably|most\slikely|likely|i\sthink|i\sbelieve"
    r"|we\s(?:choose|pick|select|have|get)"
    r"|(?:it|this|that)(?:'s|\sis|\smust\sbe|\sshould\sbe|\shas\sto\sbe|\swould\sbe|\scan\sonly\sbe)|must\sbe|the|remaining|only)[\s,]{1,2}){0,4}"
)
CONCLUSION = re.compile(rf"{_CLAUSE_START}(?:and\s)?{_SO}(?::\s?|,?[ ]?){_AFTER_SO}")
"""A conclusion at the start of a clause: "so it must be", "by elimination, "."""
# "The best next step is C", "the statement that is not true is option D".
COPULA = re.compile(
    r"(?<=[a-z)\"'])\s(?:is|are|be|was)\s(?:most\slikely\s|likely\s|therefore\s|thus\s|probably\s|clearly\s|only\s|in\sfact\s|of\scourse\s"
    r"|simply\s|precisely\s|none\sother\sthan\s){0,2}"
    rf"(?=(?:(?:the|an?)\s(?=[{SIGNS}]))?[\"'(\[]?(?:[{SIGNS}]|[a-z][\s.,;)\]\"'!]|[a-z]$|(?:option|choice|answer)\s))"
)
# Words before "is C" that make C no option: "the grade is C".
NOT_AN_OPTION = re.compile(
    r"\b(?:class|grade|stage|type|group|score|vitamin|category|level|factor|hepatitis|influenza|antigen|panel|figure|curve"
    r"|point|points|segment|graph|image|wave|phase|serotype|genotype|subtype|strain|label(?:l)?ed|marked|region|area|line)"
    r"(?:\s\w{1,20}){0,3}$|\b(?:so|nor|neither|which|this|that)$"
)
_ADVERB = (
    r"(?:(?:also|clearly|therefore|thus|indeed|likely|most\slikely|probably|definitely|certainly|obviously|the|single"
    r"|overall|actually|my)\s){0,4}"
)
_RIGHT = r"(?:correct|right|best|most\s(?:likely|appropriate|suitable|accurate|fitting|plausible|consistent|probable))"
_NOUN_OF_CHOICE = (
    r"(?:answer|option|choice|label|word|verdict|diagnosis|response|conclusion|explanation|pick|selection|one|(?:next\s)?step|treatment|test|management"
    r"|therapy|drug|cause|agent|statement|investigation|intervention|finding|fit|match|candidate|medication|approach|vote|guess|bet|odd\s(?:one|man)\sout|exception|outlier|(?:of\schoice))"
)
_STOP = r"\s?(?:[.,;:!)](?!\w)|$|\n)|\s\(|\s(?:because|since|as|given|due)\b"
# "B (an old drug) is", "B, an old drug, is"
_ASIDE = rf"(?:\s\([^()]{{0,200}}\)|,\s[^(),.;:!?\n{SIGNS}]{{1,60}},)?"
_VERB_OF_CALLING = (
    r"(?P<verb>is|are|would\sbe|must\sbe|seems|appears|looks|remains|has\sto\sbe)\s(?:to\sbe\s)?"
)
# "The one with the higher modulus" describes an option; "the best one" and "the only one" call it right.
_DESCRIBES = r"(?!one\s(?:for|in|of|based|with)\b)"
_BEST_CHOICE = (
    rf"{_DESCRIBES}(?:(?:final|{_RIGHT}|preferred|ideal|only|appropriate|fitting)\s){{0,2}}(?P<noun>{_NOUN_OF_CHOICE})"
    rf"(?={_STOP}|\s(?:here|for|in|of|to|based|with)\b)"
)
# "B best explains", "B fits the findings best"
_FITS_BEST = (
    r"(?:fits|matches|explains|describes|answers|accounts)\s(?:\w{1,20}\s){0,6}?best\b"
    r"|best\s(?:fits|matches|explains|describes|answers|accounts|aligns)\b"
)
_WINS = r"gets\smy\svote|makes\s(?:the\s)?(?:most|more)\ssense|it\sis\b(?=[.!]|$|\n)|wins\b"
IS_RIGHT = re.compile(
    rf"[)\]\"'.:]?{_ASIDE}\s(?:{_VERB_OF_CALLING}{_ADVERB}(?:(?P<right>{_RIGHT})(?={_STOP})|{_BEST_CHOICE})"
    rf"|{_FITS_BEST}|{_WINS})",
    re.IGNORECASE,
)
"""What follows an option that is called right: "B is correct", "Hepatitis B is the most likely diagnosis"."""

LEAD_IN = (
    r"(?i:(?:(?:so|thus|hence|therefore|overall|ultimately|consequently|finally|then|in\s(?:conclusion|summary|short)|and|but|yet|clearly|∴"
    r"|yes|okay|ok|well|conclusion|to\sconclude|(?:i|we)\s(?:think|believe|conclude|would\ssay|'d\ssay)(?:\sthat)?)(?:[,:]|\.{3})?\s){0,3})"
)
# "Therefore B is wrong and A is right": what precedes the second subject.
OTHER_IS_WRONG = (
    rf"(?:(?:[A-Z]|[{SIGNS}]{PADDING}*)\s(?i:is|was|are)\s"
    r"(?i:wrong|incorrect|false|out|excluded|(?:very\s)?tempting|close|attractive|popular),?\s(?i:and|but|so|while)\s)?"
)
_OPENING = (
    r"(?i:(?:(?:it|this|that)(?:'s|\sis|\s(?:must|should|would|has\sto|can\sonly)\sbe)|must\sbe|has\sto\sbe|should\sbe)\s"
    r"(?:(?:clearly|definitely|probably|most\slikely|likely|obviously|certainly)\s)?"
    r"|(?:choose|select|pick|going\swith|go\swith)\s|(?:most\s)?(?:likely|probably|definitely|clearly|absolutely|certainly|surely)(?:\s|:\s?)|(?:->|=>|→|⇒|✓)\s?|i(?:\swould|'d)\s(?:say|go\swith)\s)"
)
# "Except: C. ASO titre is ..."
_EXCEPT = r"(?i:(?:the\s)?(?:except(?:ion)?|odd\s(?:one|man)\sout)\s?[:=]\s)"
LINE_START = re.compile(
    rf"(?:[-•+]\s)?{LEAD_IN}(?P<opening>{_EXCEPT}|(?:{_OPENING}){{0,2}}(?i:{CALLED})|(?:{_OPENING}){{1,2}}(?i:statement\s)|(?:{_OPENING}){{1,2}})?"
)
_SURE = (
    r"(?:i\s(?:think|believe|guess|suppose|would\ssay|am\s(?:\w{1,12}\s)?(?:sure|confident|certain))|i'd\ssay"
    r"|i'm\s(?:\w{1,12}\s)?(?:sure|confident|certain)|for\ssure|definitely|certainly|probably|most\slikely|likely|clearly|obviously"
    r"|no\s(?:doubt|question|contest)|hands\sdown|plain\sand\ssimple|by\sfar|all\sthe\sway|without\s(?:a\s|any\s)?(?:doubt|question)|of\scourse|in\smy\s(?:opinion|view)|with\s(?:\w{1,12}\s)?(?:confidence|certainty)"
    r"|it\sis|final(?:\sanswer)?|is\s(?:my|the)\s(?:final\s|correct\s|right\s|best\s)?(?:answer|choice|pick)|(?:high|low|medium|moderate)\sconfidence|\d{1,3}(?:\.\d+)?\s?%(?:\s(?:sure|confident|certain|confidence))?"
    r"|~?\d{1,3}\s?%(?:\s(?:sure|confident))?|(?:confidence|certainty|probability|score|conf)\b[\s:=]{0,3}[\w.%/]{1,12})"
)
_ADDRESS = (
    r"(?:,?\s(?:lol|haha|imo|imho|tbh|btw|please|thanks|doctor|sir|folks|everyone|guys|mate|my\sfriend|then|though"
    r"|obviously))?"
)
_CLOSING_MARKS = r"[)\]>}\"'.:,;!✓\s]{0,8}"
# "(confidence: high)", "(very sure)"
_SURE_IN_BRACKETS = (
    rf"[(\[](?:{_SURE}|very\s\w+|sure|certain|high|correct|answer|✓)[^()\[\]\n]{{0,40}}[)\]]"
)
PURE_TAIL = re.compile(
    rf"{_CLOSING_MARKS}(?:[-,]\s?)?(?:{_SURE_IN_BRACKETS}|{_SURE})?{_ADDRESS}{_CLOSING_MARKS}",
    re.IGNORECASE,
)
"""What may follow an option that is all of a line: ".", "(confidence: high)", ", I think"."""
LINE_END = (
    r"(?=\s?$|\n|\s?[.,;:!)\]}\"'<✓](?!\w)|\s[-(\[✓]"
    r"|\s(?:because|since|given\sthat|due\sto|as\s(?:the|it|this|these|he|she|a|in|per))\b|\s(?:i\sthink|I\sthink|for\ssure|is\smy|lol|imo|tbh|obviously|please|definitely|probably|then(?=[.!]))\b)"
)
"""What may follow a lone letter at the start of a line: "A because", but not "A given patient"."""
REASON_TAIL = re.compile(
    r"[)\]\"'.:]{0,2}(?:,|\s-|:)?\s(?:because|since|as|given(?=\s)|due|based\son|for\sthe\sreason)\b",
    re.IGNORECASE,
)

_NEGATED = r"(?:not|never)"
_VERBS = (
    r"(?:(?:which|this|that|it|is|are|was|were|can|could|may|should|must|would|will|does|do|did|be|seems?|looks?|option|answer|choice)"
    r"\s){1,6}"
)
WRONG = re.compile(
    r"\b(?:wrong|incorrect|false|untrue|unlikely|inappropriate|contraindicated|distractor|tempting|rul(?:e|ed|ing)\sout|exclud\w*"
    rf"|eliminat\w*|avoid\w*|inaccurate|irrelevant|cross(?:ed|ing)?\s(?:\w{{1,12}}\s)?(?:out|off)|(?:struck|strike)\s(?:out|off)|fall(?:s|ing)?\saway"
    rf"|drop(?:s|ped|ping)?\sout|off\sthe\s(?:table|list)|falls?\sshort)\b|\b(?:is|are)\s(?:therefore\s|thus\s|clearly\s)?out(?=\s?(?:[.,;!)]|$|\n))|✗|(?:^|\s){_VERBS}{_NEGATED}\b|\b(?:isn't|can't|cannot|doesn't|aren't|won't|wouldn't)(?!\w)"
    r"|\b(?:isnt|cant|doesnt|arent)\b|^[\s:(,-]{0,3}not?\b(?!\s(?:contest|doubt|question\b(?!\sof)))"
)
"""Words after an option that call it wrong."""
POINTED_AT = re.compile(
    r"(?:<-{1,3}|<={1,2}|←|⟵)\s?(?:this(?:\sone)?|here|(?:the\s|my\s)?(?:answer|choice|pick|correct(?:\s(?:one|answer))?))?[.!]{0,3}\s?$"
)
"""An arrow behind an item of a list that points at it: "<-- this"."""
CALLED_RIGHT = re.compile(
    r"^[\s:(\[,-]{0,4}(?:correct|right|true|yes|✓|best)(?![\w'])|✓"
    r"|\b(?:is|-|:|\()\s?(?:the\s|therefore\s|also\s|clearly\s)?(?:correct|right|best)(?:\s(?:answer|option|choice|one))?(?=\s?(?:[.!)\],;]|$|\n)|\s(?:because|since|as|and|for|here)\b)"
    r"|\bcorrect\s(?:answer|option|choice)?\)"
)
