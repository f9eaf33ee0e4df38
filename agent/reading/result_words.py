"""Word lists and patterns that show where an answer states its value, explains it or leaves it open. Data."""

import re

from agent.reading.caseless import compile_caseless

BESIDE_THE_ANSWER = compile_caseless(
    r"reason|think|thought|explan|step|rational|work|calculat|formula|note|unit|interpret|comment"
    r"|risk|percent|class|categor"
    r"|stage|prob|confiden|mortal|input|item|criteri(?!\w*_(?:met|count))|component|breakdown"
    r"|total_days|lmp|last_"
    r"|menstr|cycle|current|visit|today"
    r"|weight|height|^age|sex|gender|creatinin|max|min|range|limit|id$|version|conception_age"
    r"|method|equation|question",
)
BOXED = re.compile(r"\\boxed\s?\{((?:[^{}]|\{[^{}]{0,50}\}){0,500})\}")
FRACTION = re.compile(r" ?\(?([-+]?\d{1,9}(?:\.\d{1,9})?)\)/\((\d{1,9}(?:\.\d{1,9})?)\) ?")
CUE = compile_caseless(
    r"\b(?:(?:final|overall|correct|short|direct)[ _-]?)?(?:answers?|ans)\b[\"'*]{0,3}"
    r"(?: (?:to (?:the|this|your) question|in [a-z/]{1,12}|for (?:the|this) patient|here|value))?"
    r" ?(?:is|was|[:=→]|->|would be|equals|should be|must be|-(?= ))"
    r"|^(?:majority(?: vote)?|consensus) ?[:=]"
    r"|(?:^|(?<=[.:;] ))(?:the )?(?:final |overall |calculated |computed "
    r"|numeric(?:al)? )?(?:result|output|conclusion|response|verdict)s? ?(?:is|was|[:=→])"
    r"|\bfinal answer of\b"
    r"|\bfinal (?:[\w-]{1,20} ){0,5}(?:\([^()\n]{0,30}\) ?)?(?:is|was|[:=→])"
    r"|^ ?(?:final )?(?:answer|result|final score|final result|total score|conclusion):?$"
    r"|^final ?[:=]",
    re.MULTILINE,
)
# "The maximum score is 9", "a total of 9 is possible": these describe the scale, not the patient's result.
OF_A_SCORE = re.compile(
    r"^\W*(?:the )?(?:maximum|minimum|highest|lowest)(?: possible)? (?:score|total|value|points)\b"
    r"|\bpoints? (?:minimum|maximum)\b",
    re.IGNORECASE,
)
OF_THE_SCALE = re.compile(
    r"(?<!/)(?<!per )\b(?:maximum|minimum|max|min|possible|highest|lowest|cut-?off|threshold"
    r"|normal|reference|range"
    r"|baseline|average|median|mean(?! arterial)|typical|expected)\b(?! (?:weight|body))",
    re.I,
)
SENTENCE_END = re.compile(
    r"\n+|[.!?](?<![\s.].)(?<!\n\d.)(?<!\n\d\d.)(?<!\b(?:vs|ca|no|Dr).)(?<!\bapprox.)(?<!\b(?:e\.g|i\.e).)"
    r"[)\]\"']{0,3}(?:\s+(?=[A-Z(\[\"'≈~∴→0-9-])|(?=[A-Z][a-z]+\b))"
    r"|[。！？](?=.)"
    r"|;\s(?![^()\n]{0,200}\))(?!(?:using|with|without|corrected|based|if|or|when|but)\b)"
)
EQUALS = re.compile(r"(?<![<>!=])(?:[=≈≅→⇒]|->)[ ≈~$(]{0,4}(?=[-+]?\.?\d)")
VERB = (
    r"(?:\b(?:is|was|are|be|equals?|equal to|equates to|remains|becomes|became|gives?|giving"
    r"|yields?|yielding|get|gets"
    r"|obtains?|obtained|totals?|totall?ing|stands|comes? (?:out )?(?:to|at)|came (?:out )?(?:to"
    r"|at)|works? out (?:to|at|as)"
    r"|results? in|resulting in|adds? up to|sums? (?:up )?to|amounts? to|calculated (?:as|at"
    r"|to be)|computed (?:as|at|to be)"
    r"|estimated (?:as|at|to be)|rounds? to|rounded to|scor(?:e|es|ed|ing)|turns out to be"
    r"|would be|will be|receives|(?:go|going|went) with|settled? on|settling on|runs? at|going at|stay(?:ing)? with"
    r"|(?<=that)'s|(?<=it)'s|=>|of which|(?:has|have)(?= (?:an? )?\w+ (?:points?|criteria))|stays?"
    r"|falls on|due on|due|converts to|equivalent to|meets?|met|reach(?:es)?|call it|make it|(?:i"
    r"|i'd|would) (?:say|report|answer|give)|i get"
    r"|corresponds? to|translates? (?:in)?to|(?:leav|bring|keep|mak|put)(?:es?|s|ing)(?: (?:us|it"
    r"|him|her|them|the [a-z]{1,12}))?(?: (?:at|to|with))?"
    r"|es|est|ist|beträgt|è|é|vale|wynosi|bedraagt|är|fue|sont|son|sind)\b|[:=≈→为是はが])"
)
FILLER = (
    r"(?:(?:us|a|an|the|of|at|to|as|be|been|on|approximately|approx\.?|about|around|roughly|nearly"
    r"|almost|just|only"
    r"|exactly|now|therefore|thus|hence|then|also|equal|estimated|calculated|total|totals?|score"
    r"|sum|value|result|final|overall"
    r"|corrected|date|dated|currently|simply|still|together|patient's|el|le|la|il|den|der|daily"
    r"|gestational|age|all"
    r"|criteria|points?|is|was) ?|[\s≈~($\"',:=])"
)
BEHIND_VERB = compile_caseless(rf"({VERB}){FILLER}{{0,8}}$")
# "→ BMI 31.25", "gives a MAP of 93.3"
GIVES_NAMED = re.compile(
    r"(?:→|= ?|\b(?:gives?|giving|yields?|yielding|making|(?:you|we|i) (?:get|obtain))) ?(?:an? "
    r"|the )?(?:[\w'-]{1,20} ){1,3}(?:of |is |= ?|: ?)?(?:≈ ?|~ ?)?$"
)
RESULT_NOUN = compile_caseless(
    r"\b(?:(?:total|score|result|answer|sum|final|overall|index|subtotal|tally"
    r"|number of (?:[a-z]{1,12} )?criteria|criteria met)s?\b[^.;:\n=]{0,80})"
    rf"(?:{VERB}|\b(?:of|at)){FILLER}{{0,8}}$|\b(?:total|score|sum|result|answer) ?$",
)
NAME_OF = re.compile(r"(?:an? |the )?[A-Z][\w-]{1,20}(?: [\w-]{1,20})? of ")
PREPOSITION = re.compile(
    r"\b(?:of|at|to|as|on|with|by|from|either|in|for|since|and|or|the)\b|[+×*/(]", re.IGNORECASE
)
CONCLUDES = compile_caseless(
    r"\b(?:therefore|thus|hence|consequently|accordingly|overall|finally|in (?:total|summary"
    r"|conclusion|short)|altogether"
    r"|as a result|to (?:summari[sz]e|conclude)|so|(?:this|which) (?:gives|yields|results|makes"
    r"|brings|means|leads)|giving|yielding|resulting"
    r"|we (?:get|obtain|find|have)|adding|plugging|substituting|putting|summing|total|for a total"
    r"|patient's|estimated|calculated|computed)\b|∴",
)
BOUND_BEFORE = compile_caseless(
    r"(?:(?<![-=])[<>]=?|=<|[≤≥≦≧≠]|!=|\b(?:than|at (?:least|most)|up to|under|over|below|above"
    r"|beyond|exceed\w{0,4}"
    r"|equal to or|(?:minimum|maximum) of|before|after|by|until|since|not|isn't|never|no)) ?"
    r"(?:or equal to |about |approximately |around |~ ?|\()?\$?$",
)
BETWEEN = re.compile(
    r"\b(?:between|from) (?:about |around |approximately )?\d[^,;:=\n]{0,30}(?<!is)(?<!=) $",
    re.IGNORECASE,
)
BOUND_AFTER = re.compile(
    r" ?(?:[?]|[点分項项]{0,2}(?:以上|以下|未満|以内|及以上|이상|이하)|(?:times|-?fold)\b"
    r"|[^.;,:=()\n\d]{0,25}\b(?:if|unless)\b"
    r"|\+(?![\d ])|\+ (?:points?|years?|weeks?"
    r"|days?)\b|[^\s\d]{0,20} ?(?:or|and) (?:more|less|fewer|greater"
    r"|higher|lower|above|below|over|under|later|earlier|longer|older|younger)\b)",
    re.IGNORECASE,
)
EXPLANATION = re.compile(
    r"\n(?:reason|explanation|working|calculation|rationale|breakdown|details?|justification"
    r"|steps?|how|because|why|here)",
    re.IGNORECASE,
)
EXPLAINS = re.compile(
    r"[\s,(\[:-]*(?:using|based on|calculated|computed|derived|given|assuming|where|from|as|since"
    r"|because|due to|rounded (?:from|to)"
    r"|(?:measured|uncorrected|unadjusted|medid[oa]|gemessen\w*|mesur[ée]e?|misurat[oa])(?=:? (?:[A-Za-z]{1,8} )?\d)"
    r"|(?:sodio|calcio|natrium|kalzium|calcium|sodium|natrémie|calcémie)"
    r" (?:medid[oa]|gemessen|mesurée?|misurat[oa]):? \d{1,4}"
    r"|(?:fur|dum|ddr) \d{1,4}"
    r"|for an?\b|with\b|on the basis of|according to|obtained|i\.e|that is|lmp (?:of |was |is "
    r"|on )?\d{1,4}|that means|namely|or rounded|when using|at (?:a|an)\b"
    r"|\w*fa[ck]tor|(?:ideal |actual |adjusted |lean )?(?:body )?weight|(?:aged?|height|creatinine|albumin"
    r"|sodium) (?:of )?\d)\b",
    re.IGNORECASE,
)
NEW_STATEMENT = re.compile(
    r"\b(?:is|was|gives?|yields?|equals|would be|becomes) (?:about |approximately |~|≈ ?)?$",
    re.IGNORECASE,
)
WHICH_IS = re.compile(
    r"[^,;:\d]{0,30}, (?:which|that) (?:is|are|was|would|puts|places|makes)\b", re.IGNORECASE
)
INTERPRETS = compile_caseless(
    r"\b(?:indicat\w*|suggest\w*|correspond\w*|consistent|meaning|means|impl(?:y|ies|ying)"
    r"|represent\w*|classif\w*"
    r"|categor\w*|class|stage|grade|risks?|mortality|probability|likelihood|survival|normal"
    r"|reference|threshold|cut-?off"
    r"|limits?|elevated|low|high|moderate|mild|severe|intermediate|within|maximum|max|possible"
    r"|scale|warrant\w*|recommend\w*"
    r"|interpret\w*|underweight|overweight|obes\w*|score range|expected|predicted|(?:after|from"
    r"|since|the) (?:lmp|last (?:menstrual )?period)|dos(?:e|ing|age) (?:should|adjust\w*|reduc\w*"
    r"|must)|adjustments?|reduced?|prevalence|incidence|significan\w*|associated|fall(?:s|ing)"
    r"|place[sd]?|puts?|points? (?:for|from)|criteria|contribut\w*|usually|typically|seen)\b|[<>≥≤]",
)
RIVAL = compile_caseless(
    r"\b(?:or|if|else|versus|vs|not|instead|otherwise|alternativ\w*|rather|but|either|though"
    r"|however|up|down|between|correct(?:ed|s)|while|whereas)\b"
    r"|^\W*range\b|\brang(?:es|ing) (?:from|of|between)\b|±",
)
ASIDE = compile_caseless(
    r"\([A-Za-z][^()\n]{1,80}[=:]"
    r"|\((?:with|using|by|if|for|under|according to)\b[^()\n]{1,120}\b(?:would|might|could)\b"
    r"|[\s*(\"'-]*(?:examples?\b|for example|for instance|e\.g|suppose"
    r"|according to (?:[\w-]{1,15} ){0,3}(?:guid|recommend)|for comparison|in comparison"
    r"|by comparison|for reference|if|when|while|although|unless|note|please|however, (?:note|it)"
    r"|an? (?:\w+ ){0,3}?scores? (?:of|above|below|between)|scores? (?:of|above|below|between|range)"
    r"|(?:a )?(?:full[- ])?term\b|pregnanc|normal|reference|the (?:normal|reference|maximum"
    r"|minimum|range|formula (?:is|for|used)|equation (?:is|for|used)|cut-?off|threshold|typical|standard)"
    r"|(?:this|these|the|it)(?: [\w-]{1,20}){0,6}? (?:indicat\w*|suggest\w*|correspond\w*|falls?"
    r"|means|impl(?:y|ies)|represents?|places?|puts?|is (?:considered|classified|within|above"
    r"|below|consistent|associated|in the|elevated|low\b|high\b|normal))"
    r"|(?:this|that|it)(?: [a-z]{1,12})? (?:is|was|are) (?:an? |the |in |therefore "
    r"|well )?(?:\w+ly |very |quite )?(?:moderate|mild|severe|low|high|normal|elevated|abnormal"
    r"|within|above|below|under|over|intermediate|significant|small|large|positive|negative)"
    r"|(?:risk\b(?! ?[=≈])|interpretation|clinical|category|recommend\w*|reference|normal|treatment|management"
    r"|consider|comment|caveat|reminder|sources?|references?|confidence|formula|check|verification|units?)\b"
    r"|(?:based on|calculated (?:from|with|using|for)|computed (?:from|with|using)|derived from"
    r"|using)\b(?:[^,=≈→]|,(?= ?\d)){0,200}$"
    r"|(?:dos(?:e|ing|age) (?:adjust|reduc|should|must)|therapy|avoid|monitor|start|give|repeat|return|refer|reduce"
    r"|increase|adjust|administer|take|use|hold|replace|infuse|follow|call|do not|recheck)\b"
    r"|(?:this|i) (?:calculation |result |value |estimate )?(?:assum\w*|used?|uses|was rounded"
    r"|is based|is calculated|was calculated|took|have used|rounded)|patients? with)",
)
RISK = compile_caseless(
    r"\b(?:risk|mortality|probability|likelihood|chance|odds|survival|rate of|prevalence|class"
    r"|stage|category|grade)\b",
)
SCORE = re.compile(r"\b(?:scores?|points|index)\b", re.IGNORECASE)
INPUT = compile_caseless(
    r"^\W*(?:(?:the |this |his |her |their |patient's |patient |(?:concentration|level|value"
    r"|amount) of |serum |plasma |current |body "
    r"|actual |total body |given |reported |measured |recorded )*)"
    r"(?:weighs?|weight|height|age|aged|gender|sex|creatinine|cr|scr|albumin|sodium|na\+?"
    r"|potassium|k\+?|chloride|cl-?|bicarb(?:onate)?|hco3-?"
    r"|glucose|bun|urea|bilirubin|inr|platelets?(?: count)?|plt|wbc|hemoglobin|haemoglobin"
    r"|hematocrit|heart rate|hr|pulse|respiratory rate|rr|temp(?:erature)?"
    r"|systolic|diastolic|blood pressure|bp|sbp|dbp|triglycerides?|tg|hdl|total cholesterol"
    r"|insulin|ast|alt|qt|qt interval"
    r"|rr interval|cycle length|lmp|last (?:menstrual )?period|today|current date|calcium|ph|pao2"
    r"|fio2|paco2)\b"
    r"(?: (?:used|began|started|concentration|level|value|count|of|interval|date|day|first"
    r"|blood pressure|\([^()]{0,20}\))){0,3}\W{0,3}(?:is|was|were|are|=|:|of|on|has|\d|$)",
)
UNKNOWN = re.compile(
    r"\W*(?:not|n/a|unknown|none|cannot|can't|unable|insufficient|unclear|undetermined"
    r"|indeterminate|impossible|no )\b",
    re.IGNORECASE,
)
OTHER_DATE = re.compile(
    r"(?:the )?(?:patient's )?(?:lmp|last (?:menstrual )?period|today)\b[^,;:]{0,30}(?:is|was"
    r"|began|started|on)\b[^,;]{0,30}$",
    re.IGNORECASE,
)
REFUSAL = compile_caseless(
    r"\b(?:cannot|can't|can not|could not|couldn't|unable to|not possible to|impossible to"
    r"|not able to)\b(?:\W+\w+){0,3}?\W+"
    r"(?:calculat\w*|comput\w*|determin\w*|be (?:\w+ly )?(?:calculated|computed|determined"
    r"|answered|estimated|established|given|assessed)|provide|answer|give|say|estimate|assess"
    r"|complete|derive)"
    r"|\bnot (?:calculable|computable|determinable|applicable|available|possible)\b"
    r"|\b(?:insufficient|not enough) (?:data|information|details)"
    r"|\bi (?:cannot|can't|can not) (?:single out|choose|decide|pick)\b",
)
CALCULATES = re.compile(
    r"\d[^\n=≈]{0,120}[-+*/×÷·^] ?[\d(√][^\n=≈]{0,120}$"
    r"|[=≈][^\n=≈]{0,100}[-+*/×÷·^√(][^\n=≈]{0,100}$|√|\bsqrt|\bexp|\bln|[+*×] ?[\w(]{1,30}\)\s*$"
)
ALTERNATIVE = compile_caseless(
    r"\(\d{1,4} if\b|\b(?:alternatively|pending|(?:could|might|may) (?:also|equally|well)|or possibly"
    r"|depend(?:s|ing) on|depends? (?:whether|how|which)"
    r"|both (?:are|can|could)|either (?:is|can|could|one)|or (?:maybe|perhaps|possibly)"
    r"|give or take|can't tell|cannot tell|not sure which|disregard|ignore (?:the|that|this|my))\b",
)
# "..., but it could be", before another value
COULD_BE_INSTEAD = re.compile(
    r"(?:\b(?:but|though|although|yet|however|or)\b,?|[,;]) (?:(?:it|this|that|the \w{1,20}) )?(?:could|might|may)"
    r" (?:(?:also|well|still|even|possibly) )?be"
    r" (?:(?:about|around|closer to|nearer to|as high as|as low as|up to) )?$",
    re.IGNORECASE,
)
# "It could be 30.", behind another value
COULD_BE_TOO = re.compile(
    r"(?:[.;!?,\n] ?|\b(?:but|though|although|or) )(?:it|this|that|the \w{1,20}) (?:could|might|may)"
    r"(?: (?:also|just as well|well|still|even|possibly))? be (?:(?:about|around|up to|as high as|as low as) )?",
    re.IGNORECASE,
)
UNDER_ASSUMPTIONS = re.compile(
    r"\b(?:under|with|on|given) (?:this|these|that|those|my|the above) assumptions?\b",
    re.IGNORECASE,
)
# "I use 0.6, so the result is 6.264 mg."
USED_SO = re.compile(
    r"\W{0,3}i (?:use|used|take|took) [^.;\n]{1,60}, so the (?:final )?(?:result|answer|score|total)\b",
    re.IGNORECASE,
)
CONDITION = re.compile(r"\b(?:if|when|with|without|using|had)\b", re.IGNORECASE)
# "25.3 (95% CI 20-30)"
CONFIDENCE_INTERVAL = re.compile(
    r"(?:\d{1,2}(?:\.\d)? ?% ?)?(?:CI|KI|IC|confidence (?:interval|limits)|credible interval)\b|± ?\d",
    re.IGNORECASE,
)
# "905.2 MME per day, more than ten times the 90"
COMPARES = re.compile(
    r"[^,;:\d\n]{0,30},? (?:(?:well|far|just|slightly|clearly|much|still|thus|so|and) ){0,2}"
    r"(?:(?:more|less|fewer|higher|lower|greater) than|above|below|exceeding|short of)\b",
    re.IGNORECASE,
)
# "Wells score for PE 3.0"
SCORE_FOR = re.compile(r"^\W*(?:[A-Z][\w'-]{1,20} ){1,3}score for [A-Z]{2,5} ?$")
# "Total: 3/4": three of four criteria.
TOTAL_OF = re.compile(
    r"^\W*(?:total|score|criteria met|total (?:score|points|criteria met))(?: ?[:=] ?| )$",
    re.IGNORECASE,
)
OF_TOTAL = re.compile(r"/(\d{1,2})(?! ?[/.=*×÷]|\d)")
NAMED_RESULT = re.compile(
    rf"\b(?:scores?|answer|result)\b[^.;:\n=,]{{0,60}}{VERB}{FILLER}{{0,8}}$", re.IGNORECASE
)
REFERENCE = compile_caseless(
    r"\b(?:thresholds?|cut-?offs?|limits?|normal(?: values?| range)?|reference(?: range)?"
    r"|baseline|out of(?: the| a| all)?|ranges? (?:from|of|is))\b"
    r"[^;:=\d]{0,20}$",
)
ADDITION = re.compile(r"\d ?\+ ?\d{1,3}(?: ?\+ ?\d{1,3}){0,20} ?= ?\d")
WOULD_HAVE = compile_caseless(
    r"\bwould(?:'ve| have)\b|\b(?:but|without|if|unless|otherwise)\b[^.;\n]{0,80}\bwould (?:be|give|make|become)\b",
)
REFERENCE_BEHIND = re.compile(
    r"[^.,;:=\d\n]{0,20}\b(?:thresholds?|cut-?offs?|limits?)\b", re.IGNORECASE
)
RISK_BEHIND = re.compile(
    r" ?%[^.,;:=\d\n]{0,20}\b(?:risk|mortality|probability|likelihood|chance|survival|prevalence"
    r"|incidence|rate)\b",
    re.IGNORECASE,
)
# The answer asks for what it lacks.
ASKS_BACK = compile_caseless(
    r"\b(?:(?:could|can|would) you(?! like)|i(?:'d| would)? (?:still )?need|once you"
    r"|please (?:provide|share|confirm|clarify|specify|tell)|let me know (?:whether|which))\b",
)
SO_FAR = re.compile(
    r"\b(?:current|keeping|making|remains?|unchanged|so far|running|subtotal|now)\b[^.\n]{0,40}"
    r"\b(?:total|score|count|at)\b",
    re.IGNORECASE,
)
CONTINUATION = re.compile(
    r"\n(?:#{1,6} ?)?[^\w{]{0,3}(?:question|q|user|human|patient note|instructions?|input|problem|task)"
    r"(?: ?\d{1,3})?\W{0,3}:"
    # A forum's page goes on below the answer.
    r"|\n\W{0,3}(?:posted (?:by|on|in|at)\b|re: re:|leave a (?:comment|reply)\b|\d{1,3} (?:comments|replies)\b)",
    re.IGNORECASE,
)
# The line of a question behind an answer, which may be the same again
ASKED_AGAIN = re.compile(
    r"\n(?:#{1,6} ?)?\W{0,3}(?:question|q|user|human)\b[^\n]{0,300}\n", re.IGNORECASE
)
# What a question about another patient begins with
OTHER_PATIENT = re.compile(r"\b(?:patient note|clinical note|year-old|years old)\b", re.IGNORECASE)
# The end of a line that is no end of a sentence.
BREAKS_OFF = compile_caseless(
    r"(?:[=+×*/(,:;≈-]|\b(?:the|an?|of|to|and|or|is|are|was|in|with|for|by|at|on|that|this|which"
    r"|as|because|since|from"
    r"|patient's|if|than|scores))$",
)
FULL_STOP = re.compile(r"[a-z0-9)%][.!?](?:\s|$)")
OPERATOR_BEFORE = re.compile(r"[*/×÷^] ?$|\w \+ $")
OPERATOR_BEHIND = re.compile(
    r"(?: ?[A-Za-z/]{1,8})? ?[*×÷√]| ?\^| x [(\d]| ?/ ?[(√]| ?\+ ?[\w(]|\s?- ?[a-z]{2,20}\)|\s?[=≈]\s?$"
)
ARROW_BEFORE = re.compile(r"→ ?[A-Za-z]")
STEP = re.compile(r"\W{0,3}step \d", re.IGNORECASE)
RATIO_BEFORE = re.compile(r"\d[:/]$")
WORDS = re.compile(r"[A-Za-z]{2,}")
UNIT_WORDS = re.compile(r"[A-Za-z]+")
LABEL = re.compile(r"(?:: )?[^:=\n]{1,60}[:=]")
UNIT = re.compile(
    r"%|percent|(?:[kcmµunp]|mc)?(?:g|l|L|m|mol|eq|Eq|iu|IU|U|Osm|osm|sec"
    r"|s)(?: ?/ ?\S{1,20})?(?: ?/ ?\S{1,20})?|mm ?Hg|kPa|(?:MME|mme|mL|ml)(?:/\S{1,20}"
    r"| per \w{1,10})|(?:lb|pound|kilogram|stone|inche|hour|minute|day|week)s?(?: total)?"
)
PERCENT = re.compile(r" ?(?:%|percent|per cent|v\.H\.)")
NOT_STATED = re.compile(r"\bnot (?:stated|given|mentioned|provided|documented in)\b", re.IGNORECASE)
# A value's unit; what stands behind it is no letter.
MEASURE = re.compile(
    r" ?(?:%|(?:m|mc|k|µ|d)?(?:g|L|l|mol|Eq|Osm|s|sec|m)(?: ?(?:/|per) ?[\w.^]{1,10}){0,3}|mm ?Hg|kPa|cc|MME"
    r"|lbs?|pounds?"
    r"|beats|bpm|lit(?:er|re)s?|(?:milli)?seconds?|hours?|h|days?)(?![\w])"
)
APPROXIMATELY = re.compile(
    r"(?:approximately|approx\.?|about|around|roughly|circa|ca\.|exactly|nearly|just|only|~|≈"
    r"|[\s($*\"'+:=∴→➡✅👉\ufe0f✔-])*",
    re.I,
)
LIST_MARK = re.compile(r"(?:[-+*•◦▪]|\(?\d{1,2}[.)]) ")
LEADS_TO = re.compile(
    r"\b(?:of which|so|therefore|thus|hence|giving|making|resulting|yielding|total|final|overall|then)\b",
    re.IGNORECASE,
)
# Between a value and the range that its band has: "2.67 - indeterminate (1.45-3.25)".
BAND = re.compile(
    r"[^\d;()\n]{0,40}\b(?:indeterminate|intermediate|moderate|low|high|mild|severe|normal|elevated|overweight"
    r"|obese|obesity|prolonged|class [IVX]{1,3}|stage \w{1,3}|grade \w{1,3}|category \w{1,3}|group \w{1,3})"
    r"(?: risk| range| probability)? ?",
    re.IGNORECASE,
)
BRACKETS = re.compile(r" ?[(\[]((?:[^()\[\]\n]|\([^()\n]{0,100}\)){1,300})[)\]]")
ARITHMETIC = re.compile(r"\d ?[+×*] ?[\d.(]|\d - [\d(]")
IN_OTHER_WORDS = re.compile(
    r"\b(?:i\.e\.?|that is|namely|or|in other words),? (?:about |approximately |≈ ?)?$",
    re.IGNORECASE,
)
PART_OF_SCORE = re.compile(
    r" ?(?:points?|pts?) (?:for|from|because)\b(?! (?:this|the) patient)", re.IGNORECASE
)
# What stands behind these words was given: "42 because the creatinine is 1.8".
GIVEN = re.compile(
    r"\b(?:because|since|as (?:the|his|her)|given (?:that|the|an?)|due to|assuming)\b[^=→]{0,300}$",
    re.IGNORECASE,
)
PART = re.compile(r"(?: ?points?)? (?:for|from|because|due)\b", re.IGNORECASE)
NOT_OTHER = re.compile(r"[^\d.;]{0,20}\bnot $", re.IGNORECASE)
ROUNDED_TO = re.compile(
    r" ?(?:→|≈|->) ?$|[^\d.;\n]{0,25}\bround(?:s|ed|ing)?(?: (?:up|down"
    r"|off))?(?: to(?: the nearest [a-z ]{1,20}?| an? final [a-z]{1,8} of)?"
    r"| gives)?[ :=,]{1,3}(?:is |as |≈ ?)?$"
    r"|[^\d.;\n]{0,25}\b(?:so|call it) (?:about |approximately |roughly |~|≈ ?)?$",
    re.IGNORECASE,
)
USED = compile_caseless(
    r"(?:\b(?:was|were|is|are|has been)|n't) (?:therefore |thus |not )?used\b"
    r"|\bwould (?:normally |usually |typically |generally |rather |instead )?be used(?= ?[.;,!)]| instead| here|\s*$)"
)
# Stronger than CONCLUDES, whose words begin steps as well: "adding 280 days gives 10/08/2021".
FINALLY = re.compile(
    r"\b(?:therefore|thus|hence|overall|so|final|in (?:total|summary|conclusion))\b|∴",
    re.IGNORECASE,
)
# What another score or unit would be, after the result: "In practice this would be about 1.2 mL".
OTHER_QUANTITY = re.compile(r"\b(?:would be|may|might|could|[Ii]n practice|in the same patient)\b")
# A body size is usually a step: "So the adjusted weight is 70.1 kg. The clearance is 24.8 mL/min."
BODY_SIZE = re.compile(r"\b(?:weight|height|[IAL]BW)\b", re.IGNORECASE)
POSSIBILITY = re.compile(r"\b(?:may|might|could)\b")  # not the month
# "Inserting these values yields the corrected QT interval." announces a result and states none.
PROMISE = re.compile(
    r"\W{0,3}(?:(?:then|so|now|next|finally),? )?(?:inserting|plugging|substituting|putting|entering|applying"
    r"|using)\b"
    r"[^.:=\d\n]{0,80}\b(?:yields?|gives?|produces?|provides?|we (?:get|obtain|find)|leads to|results in)\b"
    r"[^.:=\d\n]{0,80}\.?\s{0,3}$",
    re.IGNORECASE,
)
# Every sentence of such a paragraph is an aside.
NOTE = re.compile(
    r"\W{0,3}(?:notes?|remarks?|caveats?|interpretation|clinical (?:note|comment|context)|comments?):",
    re.IGNORECASE,
)
END_MARK = re.compile(
    r"\n\W{0,5}(?:end of (?:the )?(?:response|answer|output|text)"
    r"|(?:response|answer|output) (?:ended|ends|complete))\W{0,5}$",
    re.IGNORECASE,
)
# "By Fridericia the QTc is 448 msec. By Bazett it is 512 msec."
BY_METHOD = re.compile(r"\W{0,3}(?:by|per|according to) (?:the )?[A-Z]\w+", re.IGNORECASE)
# "Age gives 1 point. Stroke gives 2 points."
CRITERION = re.compile(
    r"(?!(?:so|therefore|thus|hence|the (?:patient|total|sum)|she|he|this|it|that)\b)[^.,:=\n]{2,60} "
    r"(?:gives?|adds?|contributes?|gets?|earns?|scores?) (?:another )?\+?\d(?:\.\d)?(?: points?)?[.;]?\s{0,3}$",
    re.IGNORECASE,
)
PLUS = re.compile(r" ?(?:\+ ?|[a-zA-Z/%]{0,10}, (?:and )?(?:[a-z]{3,20} ){0,2})")
SO_OF_SUM = re.compile(
    r"[^\d.:;=\n]{0,12}(?:[.,;] ?)(?:and )?(?:so|altogether|in total|in all|therefore|thus|hence),? "
    r"(?:(?:that's|this is|about|a total of|the total is) )?",
    re.IGNORECASE,
)


ANSWER_FIELDS = {
    "answer",
    "final_answer",
    "finalanswer",
    "value",
    "result",
    "final_value",
    "final_result",
}
# One of these is in every cue; looking for them first is faster.
CUE_WORDS = (
    "answer",
    "ans:",
    "ans ",
    "ans=",
    "result",
    "final",
    "output",
    "conclusion",
    "response",
    "verdict",
    "majority",
    "consensus",
    "total score",
)
