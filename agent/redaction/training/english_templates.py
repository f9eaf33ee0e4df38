# ruff: noqa: E501 - one template a line
"""Templates of the English generator; see `english`. One text a line; `\\n` breaks a line,
and ❴ ❵ are braces of the text itself.
"""


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.replace("\\n", "\n") for line in text.strip().splitlines() if line)


# Of clinics, with people, places and numbers.
CLINICAL = _lines(r"""
{name} is a {age}[-year-old|yo| y/o| year old|-y-o] {sex} with [a history of|known|longstanding|newly diagnosed] {condition} who [presents|presented|came in|was brought in] with {symptom}.
{name}, {age}, [was admitted|came|was transferred] to {facility} on {date} with {symptom}.
This {age}-year-old {sex}, {name}, was seen [today|by {doctor}|on {date}] for {condition}.
[Mr.|Mrs.|Ms.|Miss|Mr|Mrs|Ms] {last} [is|was|remains|has been] [stable|admitted|transferred|discharged|doing well|seen] [on {drug}|for {condition}|after {procedure}|by {specialty}|on {date}].
[Patient|Pt|Client|The patient|Resident] {name} [reports|denies|complains of|c/o|notes|states she has] {symptom} [since {date}|for {n} days|and {symptom}|].
[Patient|Pt]: {name}, [MRN|MR#|ID|record number|record] {id}, [DOB|born] {date}, [seen|admitted|evaluated] at {facility}.
[What|Which] [is|are] the [best|recommended|current|first-line|safest] [treatment|management|options|therapy|dose of {drug}] for [a {age}-year-old {sex} named|my patient|our patient|patient] {name} with {condition}[, seen at {facility} on {date}|, MRN {id}| living in {city}|]?
[Should|Can|Could|Would] [I|we] [start|stop|continue|switch] {drug} [for|in] {name}[, a {age}-year-old with {condition}| (MRN: {id})|, who was hospitalised at {facility}|, followed by {doctor}]?
How [should|do|would] [I|we|you] [manage|treat|counsel|monitor] {name}[ (DOB {date})|, {age}M,|, {age} y/o F,|] [after {procedure}|given {condition}|who has {condition}] [at {facility}|in {city}|under {doctor}|]?
[Summarize|Draft|Write|Please write|Prepare] [a discharge summary|a referral letter|a progress note|an appeal letter|patient instructions|a handoff] for {name}[, admitted {date} to {facility}|, MRN {id},|] with {condition}.
[Interpret|Explain|Review] [these|the following] [labs|results|values] for {name}[ from {date}| ({id})|]: {lab}, {lab}, {lab}.
[Guidelines|Dosing|Evidence|Recommendations|Risks|Alternatives] for {drug} in {condition}, [patient|pt|case] {name}, {age}[M|F], [followed at|treated at|referred from] {facility}, [SSN|policy|account|insurance ID|MRN] {id}.
[Is|Are there] [it safe|any interaction|any contraindication|a concern] [with|to give|for] {drug} [and|with] {drug} in [Mr.|Ms.|Mrs.] {last}, [who lives at {address}|from {city}|phone {phone}|who was born on {date}]?
[Differential|Next step|Workup|Best imaging] for {symptom} in a {age}-year-old {sex}[, {name},| ({name})| called {first}] [after travel to {country}|admitted to {facility} on {date}|with {condition}].
{name} [called|phoned|messaged|wrote|left a voicemail] [on {date}|this morning|from {phone}|] [asking about|requesting|to report|because of] [a refill of {drug}|{symptom}|the {procedure}|test results|an appointment with {doctor}].
[Discussed|Spoke|Reviewed] with {doctor}[, who agrees|, {specialty}|] [and the patient's {family}|regarding {procedure}|about the plan][, {name}|].
[Her|His|The patient's] {family}[,| named| is|:] {name}[,|] [was at the bedside|can be reached at {phone}|will drive {first} home|provided the history|is the health care proxy].
[Referred|Sent|Seen|Evaluated|Examined|Operated|Followed|Treated|Managed|Consented|Counselled] by {doctor} [at|of|from] {facility}[ on {date}| for {condition}|].
[I saw|I had the pleasure of seeing|Thank you for referring|I reviewed|We met with] [{name}|your patient {name}|Mr. {last}|Mrs. {last}|this pleasant {sex}, {name},] [in clinic|at {facility}|in {city}|today|on {date}] [regarding|for|about] {condition}.
Dear {titled},\n[Thank you for|I am writing about|Re:] {name}[, DOB {date}|, of {address}|, {id}]. [He|She] has {condition} and takes {drug}.
{doctor} [recommended|ordered|performed|started|stopped|reviewed|agrees with|advised] {procedure} [for|on] [Mr. {last}|Ms. {last}|{name}|{first}|the patient].
[Social|SH|Social history]: [lives|Lives|resides] [in {city}|at {address}|with {family} {first}|in {place} with {family}], [works|worked] [as a {job}|at {company}|for {company} as a {job}|as a {job} at {company}].
[Retired|Former|Works as a] {job} [from|at|in] [{company}|{city}|{country}], [emigrated from|born in|originally from|recently returned from|grew up in] {place}.
Travel: [returned from|visited|trip to|flew to|came back from|lives between] {place} [and {country}|in {date}|{n} weeks ago|].
[RN|Nurse|CNA|Aide|Night nurse|Charge nurse] {first} [notified|paged|called|at bedside|gave report to|relieved by] {doctor}[, {clock}|. Pt resting|].
{clock} - [{name}|{first}|Mr {last}|Mrs {last}] [ambulated|refused|tolerated|voided|slept well|given {drug}|repositioned|c/o {symptom}]. {initials}
[Transferred|Admitted|Transported|Moved|Discharged] [from|to] {facility} [to {facility}|via EMS|on {date}|under {doctor}|] [for {procedure}|with {condition}|].
[MRN|Medical record number|Chart|Record|Case|Encounter|Accession|Account|Policy|Member ID|Visit no.|Specimen|Lot|Licence|NPI|DEA][:| #| is| no.|] {id}[, {name}|; DOB {date}| ({facility})|.]
[CT|MRI|X-ray|Ultrasound|PET] [of the chest|of the brain|abdomen|] [dated|from|performed|on] {date} [at {facility}|compared with {date}|read by {doctor}|accession {id}]: no acute abnormality.
CC: {symptom}. {name} [is here with|came with|accompanied by] [his|her] {family} {first} [today|from {city}|].
DOCTOR: [Good morning|Hi|Hello], {first}. [How is the {symptom}|What brings you in|Any {symptom}]?\nPATIENT: [Hi|Morning] {doctor}, [it started on {date}|I have had {symptom}|I'm taking {drug}].
[Hi|Hello|Dear|Good evening] {doctor}, [this is|it's|I'm|my name is] {name}[, date of birth {date}|]. [I have|My {family} has] {symptom} and [wonder about|would like] {drug}. [Thanks|Thank you|Best], {first}
[my name is|i'm|this is] {name} and [i|my {family}] [was|were] [at|in] {facility} [on {date}|] with {symptom}
[mr|mrs|ms|dr|miss] {last} [is doing ok|wants to go home|needs {drug}|had {symptom}] [his {family} {first} says|per {first}|]
{last}, {first} [MRN|#] {id} [DOB|b.] {date} [{sex}|{age}F|{age}M]
{last} {first} | {date} | {id} | {condition} | {doctor}
{first} {last}\t{age}\t[M|F]\t{city}\t{date}\t{id}
{name},{date},{id},{phone},"{street}",{city}
Name,DOB,MRN\n{name},{date},{id}\n{name},{date},{id}
❴"patient"❵: "{name}", "[hospital|site|facility]": "{facility}", "mrn": "{id}"
❴"name": "{name}", "city": "{city}", "dob": "{date}", "phone": "{phone}"❵
[Treatment|Management|Recommended follow-up|Prognosis|Imaging|Dosing of {drug}|Next steps] [for|in] a {age}[-year-old|yo] {sex}[ patient|] [with|diagnosed with|recently diagnosed with|presenting with] {condition}, {name}, [seen|admitted|evaluated|treated|who was seen|last seen] [at|in|by] {facility} on {date} ([MRN|record|SSN|ID|member ID|account][:| #|] {id})?
[What|Which] [should|would] [be|you recommend as] [the next step|therapy] for {name}, a {age}-year-old [from|living in|residing in|residing at|who lives in] [{city}|{address}|{city}, {region}][, with|, who has|, complaining of] {condition}?
[I have|We have|There is] a {age}-year-old {sex} [patient |]named {name} [from {city}|at {facility}|in room {n}|] [with|who has|on {drug} for] {condition}. [What now?|Is {drug} safe?|Contact: {phone}.|Any advice?]
[patient|pt|Patient|female|male|adult|child|man|woman] [named|name|called|by the name of] {name}[, | ]([DOB|born|MRN|phone|SSN][:| ] [{date}|{id}|{phone}])
[For|In] [the patient|my patient|our patient] [{name}|Mr. {last}|{first} {last}][,|] [should|can|is|what] {clause}?
[referred|transferred|discharged|coming] from {facility}[ in {city}|, {city}, {region}|] [with|for|after] {condition}
[{first}|{name}|{titled}] [has|had|was given|takes|is taking|stopped|tolerated|is allergic to] {drug} [for {condition}|and reports {symptom}|since {date}|].
[Her|His|Their|My|The] [oncologist|surgeon|PCP|cardiologist|doctor|midwife|therapist|nurse|specialist][,| is| at {facility} is| Dr.] {last}[,|] [recommended|ordered|suggested|thinks] {procedure}.
[seen|followed|cared for|evaluated] by {first} {last}, [MD|NP|PA-C|DO|RN|PhD][,|] [at|of|from] {facility}[ since {date}|].
<[patient|name]>{name}</[patient|name]> <address>{address}</address>
[Scheduled|Booked|Appointment|Follow-up|RTC] [with|to see] {doctor} [at {facility}|on {date} at {clock}|in {specialty}|in {n} weeks].
[PCP|Attending|Surgeon|Referring provider|Consultant|Oncologist|Cardiologist] [is|:|was|-] {doctor}[, {facility}|, phone {phone}|].
[Mother|Father|Wife|Husband|Daughter|Son|Sister|Brother|Guardian|Partner] [is|:|-|named] {name}[, {phone}| of {city}|, also a patient here|].
Family meeting [held|today] with {first}, {first} and {first} {last}; {doctor} [explained|reviewed|led].
Baby [Boy|Girl] {last} [delivered|born] [on {date}|at {clock}] to {name} at {facility}, [Apgar scores 8 and 9|weight 3.2 kg].
[Consult|Consultation|Second opinion] [requested|obtained] from {doctor} ({specialty}, {facility}) [for|re:] {condition}.
[Compare|Given] the case of {name}, [treated|managed] at {facility} for {condition}[ in {city}|, {country}|], [what|how] does {agency} [advise|guide treatment]?
Patient identification: {name}; {address}; tel {phone}; [insured by|insurance] {company}, [policy|member] {id}.
[Cell|Home|Call|Contact|Reach|Phone|Fax] {first} [at|on] {phone} or {email}.
[Pathology|Biopsy|Specimen] {id} [received|collected] {date} from {facility}; [pathologist|signed out by|reviewed with] {doctor}: {condition}.
[The patient|She|He] was [born|raised|living|working|hospitalised|vaccinated] in {place} [until {year}|before moving to {place}|].
[Pt|Patient] [asks|wants] to transfer care from {facility} to {facility} [closer to {city}|with {doctor}|in {region}].
{titled} [operated on|scrubbed for|assisted with] {name}'s {procedure}; [anesthesia by|assistant] {doctor}.
{name}'s [labs|scan|biopsy|chart|family|medications|symptoms|blood pressure] [show|showed|indicate|suggest|were reviewed with] {condition}.
[Per|According to] [{first}|{doctor}|Ms. {last}|the {family}, {first}], [she|he] took {drug} {n} days ago [at {facility}|in {city}|].
[Employer|Occupation]: {job} at {company}[, {city}|]. [Worker's comp claim|Claim] {id}.
[Ambulance|EMS|Police|Paramedics] picked up {name} [at|from|near] {address} [at {clock}|on {date}|] after [a fall|{symptom}].
[Group home|School|Shelter|Employer] [is|:] {company}, contact {name} {phone}.
{condition} in {first}[ {last}|], {age}, [seen at|followed in|referred to] {facility} [last week|{date}|].
Hx from {family} ({first}): {symptom} x{n} days. [Saw|Seeing] {doctor} [at|of] {facility}.
Re: {name}\nDOB: {date}\n{address}\n\nDear {titled},
[Pt|Patient] [also known as|formerly|née|maiden name|goes by|prefers to be called|nickname] {first}[ {last}|].
{first} [is|was] [afebrile|alert and oriented|a {age}-year-old {sex}|tolerating diet|started on {drug}|seen for {condition}] [today|overnight|and discharged to {facility}|].
[Dispense|Refill|Rx] {drug} {nn} mg [for|to] {name}, [prescriber|prescribed by] {doctor}, [DEA|NPI|licence] {id}.
[Studied|Treated|Found] at {facility} ({city}, {region}) [in {year}|on {date}] by {doctor} and {doctor}.
""")

# Of anything else, with people, places, companies and addresses.
EVERYDAY = _lines(
    r"""
[My name is|I am|I'm|This is|Call me|You can call me|It's] {person}[.|,|!| and I work for {company}.| from {place}.| and I live in {place}.|, nice to meet you.]
[Hi|Hello|Hey|Dear|Good morning|Good afternoon|Greetings|Welcome] {person}[,|!|.| -|] [how can I help|thanks for your message|your order has shipped|please find the file attached|I hope you are well|the meeting is moved to {day}]
[Please|Can you|Could you|You should|I'd like to|I need to|Let me] [call|contact|email|ask|meet|talk to|speak with|forward this to|check with|tell] {person} [about|regarding|on|for] [the {word}|my {word}|{day}|this {word}|it].
{person} [said|says|told me|thinks|believes|wrote|replied|asked|insists|explained|announced|added|joked|admitted|whispered|shouted] [that|:|,] [the {word} was {word}|it is {word}|{clause}].
"{clause}[,|.|!|?]" [said|says|asked|replied|wrote|shouted] {person}[.|, {clause}.| to {person}.]
[Did|Has|Does|Will|Can|Is|Was|Where is|When did|Why is|Who is|What about] {person} [{phrase}|call|come back|like the {word}|coming to {place}|work at {company}]?
{person} [and|&|or|,] {person} [are|were|met|live|work|argued|married|grew up|moved|went|drove] [in {place}|at {company}|to {place}|{phrase}|{n} years ago].
{person}, {person}[,|] and {person} [{phrase}|are on the list|joined|were late|won the {word}|founded {company}].
The [speaker|winner|author|director|owner|manager|driver|teacher|founder|CEO|president|captain|singer|coach|player|artist|mayor|victim|suspect|host|guest|chair] [is|was|,|,|of {company}, |of {company} is] {person}[,|.| from {place}.| of {place}.]
{person}, [CEO|founder|director|head of {word}|spokesperson|a {job}|chair|president|{age}|aged {age}|who lives in {place}|the {job}], [said|joined|left|died|was born|resigned|{phrase}] [in {place}|on {day}|].
[I|We|They|She|He|My {family}|My parents|Our team] [live|lived|moved|flew|travelled|went|work|worked|grew up|stayed|studied|drove|returned|relocated|belong|was born|were born] [in|to|from|near|around|outside] {place}[.| for {n} years.| with {person}.| last {day}.| and {place}.|, {clause}.]
[The weather|Traffic|Life|Rent|Food|Housing|The school system|Public transport|Our office|The conference|A branch|The museum|The airport] in {place} [is|was|seems] {word}[.| and {phrase}.]
[How far is|How do I get to|Is there a flight to|What time is it in|Have you been to|What is the capital of|Who governs|When did you leave] {place}?
[Flights|The train|The bus|A ferry|Trains|Tickets|Shipping|Delivery] [from|to|between] {place} [to|and|via] {place} [costs|takes|leaves at|was cancelled|is {word}] {nn}.
{place} [is|was|has|lies|beat|borders|won|signed|exports|banned|announced|celebrates] {phrase}[.| with {place}.| in {year}.]
[The|In|Across|Throughout] {place}[,|] {clause}.
[The {word}|People|Farmers|Police|Officials|Fans|Students|Voters|Doctors] [of|in|from] {place} [{phrase}|are {word}|protested|voted].
[I|She|He|My {family}|{person}] [works|worked|is working|interned|applied|got a job|is employed|started|resigned] [at|for|with] {company}[.| in {place}.| as a {job}.| since {year}.|, {clause}.]
{company} [is|was|has|will|sells|makes|announced|acquired|sued|hired|builds|develops|provides|offers|launched|closed|reported|employs] [{phrase}|a {word} {word}|its {word}|{company}|{nn} {word}|{person}][.| in {place}.| in {year}.]
{company} [is a|was a|, a|, the|, our] {word} [company|agency|startup|firm|supplier|shop|bank|charity|maker|provider|group|brand|band|team] [based in|from|in|founded in|headquartered in|with offices in] {place}[.| by {person}.|, {clause}.]
[Have you heard of|Do you use|I bought it from|I ordered from|Sponsored by|Made by|Owned by|Thanks to|Partners:|Powered by|Bank:|Employer:|The CEO of|Shares of|A spokesperson for|I don't trust|I love] {company}[.|?| {phrase}.|, {company} and {company}.]
[I am|We are|She is] [a customer of|calling from|writing on behalf of|a partner at|the owner of|the new {job} at|suing] {company}[.|, {clause}.| and need to {phrase}.]
[The office of|The headquarters of|Visit|Send it to|Invoices go to|Find] {company} [is at|is located at|at|,|:|on|can be found at] {address}[.|]
{company}\n{address}
{name}\n{address}
{name}\n\n{address}
{name}\n{company}\n{address}[\n{phone}|\n{email}|]
{company}\n\n{street}\n{city}\n{country}
{name}\n{city}\n{country}
{name}\n{street}\n{city}, {region} {zip}
{street}\n {city}\n {country} {zip}
{address}
{address}
{street}, {city}
[Ship to|Bill to|Deliver to|Sender|Recipient|From|To|Attn|Address|Return address|Billing address|Home|Office][:|] [{name}|{company}|]\n{address}
[My|Our|The|Her|His|Your] [new |old |billing |home |shipping |mailing |office |] address [is|was|:|changed to|will be] {address}[.| now.|, thanks.|]
[I|We|She|They] [live|lived|moved|stay|am staying|used to live|reside|are located|parked|meet|will be] [at|in|on|near|to] [{address}|{street}|{street} in {city}][.| until {year}.|. Before that it was {address}.|]
[Turn left|Get off|Stop|It's|Drop me|Pick me up|The shop is|The store is|The party is|The bus stops|An accident happened|The fire started|The house|An apartment] [at|on|near|around the corner from|opposite] {street}[.|, {city}.| at {clock}.| {phrase}.]
[Can you deliver to|How do I get to|Is there a bus to|Where is|Do you know the way to|What is the zip code of] [{address}|{street}|{city}]?
[P.O. Box|PO Box|Box] {nn}, {city}[, {region}| {zip}|, {country}].
[Zip|ZIP code|Postcode|Postal code|Zip code|ZIP][:| is|] {zip}
[My|The|Your] [account|order|card|ticket|passport|booking|reference|licence|invoice|tracking|IBAN|customer] number is {id}[.|, name {name}.|, registered to {name}.]
[Phone|Call us at|My number is|Tel.|Fax|Text me on|Mobile:] {phone}[.| - ask for {person}.|]
[E-mail|Write to|Reach me at|Contact:] {email}[.| or {phone}.|]
[Name|Surname|Username|First name|Last name|Customer|Passenger|Guest|Student|Author|Contact|Manager|Applicant|Cardholder|Witness]: [{person}|{name}]
[What's|What is] [the|your|his|her] [name|surname|full name|contact|manager's name|doctor's name]? [It's|It is|My name is|Just] {person}[.|]
Q: [Who wrote|Who won|Who discovered|Who sang|Who directed] [it|the {word}|{Word} {Word}]? A: {person}[, {year}|.]
[She|He|They|We|My parents|Everyone] [named|called|calls|nicknamed|christened] [him|her|me|the baby|their son|it] {first}[.| after {person}.|, not {first}.]
[He|She|The {job}|My {family}] [looks like|reminds me of|is married to|met|loves|hates|knows|hired|fired|beat|thanked|visited|sued|interviewed|worked with|is a fan of|is taller than] {person}[.| in {place}.| and {person}.|, {clause}.]
The {last} [family|house|brothers|case|report|theorem|novel|album|story|estate|wedding|children|account|bridge|trial] {clause}.
[Unlike|Like|According to|Thanks to|Despite|With|Without|After|Before|Except|Besides|Since] {person}[,|'s {word},] {clause}.
{person}'s [{word}|{family}|book|new album|house|car|flight|birthday|idea|email|job|wedding|party|account|speech] [is|was|in {place}|{phrase}][.|]
[Mr.|Mrs.|Ms.|Dr.|Prof.|Sir|Miss|Judge|Captain|Senator|President|Coach|Officer|Uncle|Aunt|King|Queen|Saint|Pope|Minister|Mr|Mrs] {person} [{phrase}|is not available|will see you now|of {place} {phrase}|and [his|her] {family} {phrase}].
[Mr.|Mrs.|Ms.|Dr.] and [Mr.|Mrs.|Ms.|Dr.] {person} [{phrase}|invite you|have arrived].
[The song|The film|The book|The play|Her album|His podcast|The painting|The article|The paper] [was|is] [written|directed|produced|sung|painted|published|composed|narrated|reviewed] by {person}[, {year}.| and {person}.| of {company}.| for {company}.]
[Singer|Producer|Director|Actor|Drummer|Guitarist|Novelist|Poet|Striker|Goalkeeper|Journalist|Reporter|Professor|Senator|Lawyer|Detective|Architect|Photographer|Historian|Economist|Founder|Researcher|Councillor] {person} [told|said|explained to|joined|left|spoke to|signed with] [{company}|reporters|{person}][: "{clause}."|.| in {place}.]
[By|Photo:|Written by|Edited by|Text:|Reported by|Directed by|Starring|Translated by|Illustrated by|With|Featuring|feat.] {name}[, {company}|, {place}| and {name}|]
{person} ({year}-{year}) was [a|an] {word} [writer|painter|politician|footballer|scientist|composer|actor] [from|born in] {place}.
{person} [scored|won|lost|retired|trained|played|coached|performed|ran|signed] [{n} goals|the {word}|in {place}|for {company}|against {person}|with {person}].
[Team|Attendees|Present|Participants|Members|Cast|Invited|Kids|Players|Voters|Winners|Authors]: {person}, {person}, {person}[, {person}| and {person}|; absent {person}]
[There were|They had|We invited|I met|Among them] {n}[:| -| -] {first}, {first}, {first}, {first} and {first}.
{first}: {clause}\n{first}: {clause}
[Agent|Customer|Bot|Support]: [Hi|Hello], [my name is|this is|you're speaking with] {first}. [Customer|User]: {clause}, {name}, {email}.
Best[ regards|], {name}\n{job}, {company}\n{address}
[Sincerely|Cheers|Love|Thanks|Yours|Regards|xoxo],\n{person}
Hey {first}! {clause}. [See you in {place}|Say hi to {first}|Love|Talk soon], {first}
[lol|omg|yo|hey|ok|thx|so|btw] {first} [is|was|said|wants|likes|went to {place}] {phrase}
[can someone|could you|pls|please] [call me|help|fix it|send it] [at {phone}|to {address}|asap], [my name is|i am|this is] {name}
[I'm|I am|We are] [travelling|flying|moving|heading|going] to {place} [and|then] {place} [on {day}|next week|in {n} days] with {first}.
[Is|Was] [{person}|{company}|{place}] [from|in|near|part of|owned by] [{place}|{company}]?
[A|One|Another|This|Every] {word} [at|from|by|near|in] [{company}|{place}|{street}] {clause}.
[Reserve|Book|Cancel|Change|Confirm] [a table|a room|my appointment|the flight|the order|the car] [for|under|in the name of] {person}[, {n} people| at {clock}| on {day}|].
[Perhaps|Maybe|Probably|I think] [it's|it is|they have it|the booking is] [under|for|with|in the name of] {person}.
[Transfer|Send|Wire|Pay|Refund] {nn} [dollars|euros|pounds] to {name}[, account {id}|, {company}|].
[I|We|He|She] [met|saw|called|thanked|hired|followed|heard] {person} [at|in|near|outside] [{company}|{place}|{street}] [on {day}|yesterday|in {year}|].
{person} of {company}[, {place},|] {clause}.
{place} - {clause}. {person}, {company}.
{PLACEHOLDER}
[The|A] {word} [election|storm|earthquake|strike|festival|war|treaty|embassy|border|championship|market] in {place} {clause}.
[The|This] {place} [branch|office|team|police|government|airport|embassy|economy|coast|region|weather|version] {clause}.
[I|We] [ordered|bought|booked|paid for|reserved] [a {word}|the {word}|two {word}] [from|through|with] {company} [on {date}|and it never came|, order {id}] [and|but] [{person} told me to wait|nobody called me at {phone}|it went to {address}].
[The|A] [letter|parcel|invoice|bill|card|statement|refund] [was sent|should go|came|was delivered|must be posted] to {name}[,| at|\n] {address}[.| instead of {address}.|]
[Please|Kindly] [update|correct|change] [my name|the name|the address|the contact] [on|in] [the account|my file|the policy|the ticket] [to|from {name} to] [{name}|{address}|{phone}].
[Is|Was] [this|that|it] [{person}|{first}|{titled}]? [No|Yes], [it's|this is|I'm] {person}[ from {company}|].
[Who|Which of you] [is|knows|has met|hired|called] {person}?
[The|An] [interview|conversation|meeting|lunch|call|concert|debate|dinner|chess match] with {person} [was|is|will be] [{word}|on {day}|at {company}|in {place}|moved to {clock}].
[Born|Raised|Educated|Based|Living|Stranded|Hospitalised|Arrested] in {place}, {person} [{phrase}|moved to {place}|joined {company}|became a {job}].
{person} ({age}) [from|of|,] {place} [won|was arrested|plays|sings|studies|{phrase}].
{person} [of|from|at|, who works at|, formerly of] {company} [said|{phrase}|will speak|presented|is on leave].
{company}, {company} and {company} [are|were|have] [{phrase}|hiring|sued|the largest in {place}|merging].
[At|With|For|From|Inside|Near|Outside] {company}, {clause}.
[About|Careers at|Welcome to|Follow|Contact|News from|Reviews of|Made with|Copyright] {company}[ - {phrase}| {year}|]
[Founders|Co-founders|Partners|Owners] [of {company} |][are|include|were|:] {person}, {person} and {person}.
[Our|The|Its|Their] [founders|owners|managers|partners|directors|editors|authors|neighbours|cousins|daughters]: {last}, {last} and {last}. {clause}.
[A|The] [Swedish|Polish|French|local|former|famous|young|old|retired] [{job}|singer|writer|minister|scientist] [named|called|known as|,] {person}[,|] [{phrase}|moved to {place}|died in {year}].
[Although|When|After|Before|Since|Once] {first} [left|reached|saw|visited] {place}, [he|she|they] [{phrase}|met {first}|wrote to {person}].
[In|From|Across|Around|Beyond|Throughout|Near] {country}[,| and {country},| or {country},] [{clause}|{person} is a star|{company} is a household name].
[The|Our] [{word}|next|last|first] [stop|trip|game|concert|office|store|meeting|conference] is in [{city}|{country}|{place}][.|, {country}.| on {day}.]
[capital|biggest city|prime minister|president|flag|history|map|people|food|music|currency] of {country}
{country}, {country}, {country} and {country}
{city} - {city} - {city}
[Translate|Say|Spell|Pronounce|Repeat] {person}[ in {word}|, please|]
[It|This|That] [was|is] [written|sung|painted|sent|signed|said|made|recorded|discovered] by {person}[ in {place}| in {year}| and {person}|].
[I am|I'm] {age} years old and [live|was born] in {place}. [My name is|They call me|Ask for] {person}.
{first} [is|was|turned|will be|just turned] {age}[.| and lives in {place}.| years old.]
{first} and I [{phrase}|went to {place}|met at {company}].
[Mom|Dad|Grandma|Uncle|Aunt|Cousin|Nana|Auntie|Grandpa] {first} [{phrase}|lives in {place}|called {first}|is {age}].
{street}\n {city}\n, {region}\n {zip}
{nn} {street}\n{unit}\n{city}\n{country}
{street}. {unit} {city} {zip}
[{street}|{address}] [is|was] [where {person} lives|my old home|closed|on fire|the address of {company}].
[Directions|Walk|Take a taxi|Head] to {street}[, {city}|]. [{clause}|Then cross {street}].
[Military|Forwarding|Overseas] address: {address}
{person} {verb} [a|the|his|her|an|no|some|two] {word} [at|in|for|with|to|on] [{company}|{place}|{person}|the {word}|{phrase}][.|, {clause}.|]
{person} {verb} {phrase}[.| in {place}.| at {company}.| with {person}.| and {verb} {person}.]
{first} {verb} {first} {phrase}[.|: {address}.|, {phone}.]
{last} {verb} {phrase} [and|but|because|while|when] {person} {verb} {phrase}.
[The|A|My|Her|His] {word} {verb} [{person}|{company}|{place}] {phrase}.
[Yesterday|Today|Later|Then|There|Once|Recently|Last year|In {year}|During {year}|By {year}|After that|Eventually|For years], {person} {verb} {phrase}[ at {company}| in {place}|].
[In {year}|During {year}|After {year}|Last year|Today|Now|Since then], {company} {verb} [{phrase}|a {word}|in {word} {word}|{company}][.| in {place}.]
{person} {verb} [a year|two years|months|a decade|the summer] [at|with|in] [{company}|{place}], [and|then|before] [{phrase}|{verb} {company}|at {company} in {place}][, which {verb} {company} in {year}|].
[I|We|You|They|He|She] {verb} [in|at|for|with|from|near|to|about|by] [{place}|{company}|{person}|{facility}|{street}] {phrase}.
[I|We] [am|are|will be|was|were] in {place} [for|on|with] [a {word} {word}|{word}|vacation|work|{person}|{n} days|{phrase}].
[according to|says|reports|quoted by|published by|announced by|sponsored by|from] [the |]{company} [{word}|website|report|survey|team|app|][.|, {clause}.]
[I|She|He] [used to work|worked|works|has worked|was hired] [for|at|by] {company} as [a|an|the|] {job}[,| and|; now] {clause}.
{name}, [the|our|their|a] {job}[,| of {company},] [said|{verb} {phrase}|wrote]: "{clause}."
{name}\n{job}\n{company}\n{address}
{name}\n{company}\n{address}\n[Mobile|Cell|Phone|Tel|Office|Desk]: {phone}\n[Fax|Work|Direct]: {phone}
>{name}\n>{company}\n>{street}\n>{city}\n>{country}
{company}, {street}, {city}
{company}
{place}
{address}, {country}
[from|in|to|at|near] {place}
{person}
{company}
{name}
{titled}
{city}, {country}
[Have|Has] [you|anyone] [met|seen|heard from|spoken to] {person} [lately|today|since {day}|]?
[Owner|Tenant|Landlord|Plaintiff|Defendant|Seller|Buyer]: {name}, [residing at|of|address] {address}.
{person} {person} {phrase}.
I [told|asked|gave it to|showed|promised|owe|sent] {person} [to {phrase}|the {word}|{nn} dollars|about {company}].
[When|If|Because|While|Although|As soon as|Until] {person} {clause}, {person} {phrase}.
[Two|Three|Both|Many|All] [colleagues|friends|people|employees|students] from {company} in {place} {clause}.
""".replace("{PLACEHOLDER}", "{person} is from {place}.")
)

# Of clinics, without anybody in it.
HARMLESS = _lines(r"""
[What|Which] [is|are] the [best|recommended|current|first-line|latest|safest] [treatment|treatments|management|options|guidelines|therapy|dose of {drug}|dosing of {drug}] for [a {age}-year-old {sex} with|patients with|adults with|children with|elderly patients with|] {condition}[ and {condition}| after {procedure}| according to {agency}|]?
[What|Which] [is|are] the [side effects|mechanism of action|contraindications|half-life|interactions|black box warnings|monitoring requirements] of {drug}[ in {condition}| with {drug}|]?
[Should|Can|Could|Would] [I|we|patients] [start|stop|continue|combine|switch from {drug} to] {drug} [in|for] [a {age}-year-old {sex} with|a patient with] {condition}[, {lab}|, {lab} and {lab}|]?
How [do|should|would] [I|we|you] [manage|diagnose|treat|monitor|stage|classify] {condition}[ in pregnancy| in older adults| with {lab}| per {agency} guidelines|]?
[Compare|Contrast|Explain|Summarize|Describe|Review|Discuss|Outline|List] [{drug} and {drug}|{drug} versus {drug}|the {agency} and {agency} guidelines|the {thing}|{eponym}|the pathophysiology of {condition}|the use of {thing}|causes of {symptom}] [in|for] {condition}.
[According to|Per|Based on|In line with] [the |]{agency}[ guidelines| recommendations| criteria|,] [{drug}|{procedure}|screening] is [recommended|indicated|first-line|not advised] [for|in] {condition}.
[A|This] {age}[-year-old|yo| y/o] {sex} with [a history of|] {condition} and {condition} [presents|presented|came in] with {symptom}[ for {n} days| and {symptom}|]. [What is the next step?|{lab}, {lab}.|Differential?|On {drug}.|]
[The patient|Patient|Pt|She|He|This patient] [denies|reports|endorses|complains of|has had|presents with] {symptom}[, {symptom}| and {symptom}|] [for {n} days|since last week|over the past {n} months|].
[The patient|Patient|Pt|She|He] was [started on|given|switched to|discharged on|weaned off|continued on|loaded with] {drug} [{nn} mg|{n} mg daily|{nn} mg PO BID|IV|twice a day|] [and {drug}|for {condition}|].
{drug} {nn} [mg|mcg|units|mL|g] [PO|IV|IM|SC|SQ|by mouth|PR|inhaled] [daily|BID|TID|QHS|PRN|q{n}h|weekly|once], {drug} {nn} mg [daily|nightly|PRN {symptom}].
[Start|Stop|Hold|Continue|Increase|Taper|Resume|Avoid] {drug}[ and {drug}| {nn} mg daily|]. [Recheck|Monitor|Trend|Follow|Repeat] [labs|{lab}|INR|CBC|BMP|LFTs|TSH] in {n} [days|weeks|months].
{lab}, {lab}, {lab}[, {lab}|]. [Within normal limits.|Elevated.|Trending down.|Improved from prior.|]
[Heart|Lungs|Abdomen|Neuro|Skin|HEENT|Neck|Extremities|General|Cardiac|Chest|Psych|MSK|GU|Constitutional]: [regular rate and rhythm|clear to auscultation bilaterally|soft, non-tender|no focal deficits|no rashes|PERRLA, EOMI|no edema|well appearing, no acute distress|supple, no JVD|{thing} negative|{thing} positive].
[Positive|Negative|Equivocal|Bilateral|No] {thing}[ and {thing}|]. {eponym} [negative|positive|absent|not assessed].
[Calculate|Use|Apply|Document|Assess] the {thing} [in|for] [patients with|] {condition}.
{eponym} [is|was|remains|may be|should be] [considered|excluded|confirmed|unlikely|used|suspected] [in|when|because of|given] [{condition}|{symptom}|{lab}].
[Diagnosis|Dx|Impression|Assessment|Problem list|PMH|Past medical history]: {condition}, {condition}[, {condition}|; status post {procedure}|, {eponym}|].
[Status post|s/p|Scheduled for|Underwent|Awaiting|Tolerated|Declined|Consented for] {procedure}[ without complications| under general anesthesia|, EBL {nn} mL| with {thing}|].
[Consult|Refer to|Follow up with|Discussed with|Seen by|Page|Appreciate] {specialty} [for|regarding|about] [{condition}|{symptom}|{procedure}|].
[The|Her|His|Patient's|A] {role} [recommended|ordered|explained|reviewed|discussed] {procedure} [and {drug}|for {condition}|with the {family}|].
[Lives|Patient lives|Resides] with {family} [and {n} children|in a two-story house|in an apartment|at home]. [Works as a|Retired] {job}. [Denies tobacco|Smokes {n} cigarettes daily|Drinks socially].
[Insert|Remove|Flush|Change|Secure] the {thing} [every {n} days|if {symptom}|using sterile technique|per protocol].
[Allergies|NKDA|Allergic to|Intolerance][:|] {drug} ([rash|hives|anaphylaxis|GI upset|angioedema]).
[IMPRESSION|FINDINGS|Findings|Impression]: [No acute abnormality|No evidence of {condition}|Findings consistent with {condition}|Mild degenerative changes at L4-L5|Right lower lobe opacity|Normal study]. [Compared to prior.|Recommend {procedure}.|]
[Written in|Published in|A trial in|A study in|An article in] {agency}[ ({year})|, {year},|] [found|showed|reported] that {drug} [reduces|increases|prevents|improves] {condition}.
[Vitals|VS|Vital signs]: {lab}, {lab}, {lab}. [Pain|GCS|I/O|Weight]: {n}/10.
[Counselled|Educated|Advised] [patient|pt|family] on [diet|smoking cessation|{drug}|warning signs|{thing}|the Mediterranean diet]. [Return to ED|Call] if {symptom}.
[PT|OT|SLP|RT|Nursing|Pharmacy|Dietary|Chaplain|Interpreter] [consulted|following|signed off|at bedside|to evaluate]. [Plan of care reviewed.|Goals met.|Fall precautions in place.|]
[May|Will|Can|Might|Should|Does|Did|Has] [the patient|this|it|treatment|{drug}|I|we] [take|help|cause|increase|worsen|resume|be stopped] {symptom}[?|.]
[May|Will|Mark|Grant|Grace|Hope|Faith|Rose|Bill|Frank|Chase|Drew|Miles|Rich|Art|Gene|Dale|Cliff|Max|Ray|Sue|Pat|Will|Dawn|Iris|Ivy|Summer|April|June] [{phrase}|{clause}].
[Rose bengal|Frank hematuria|Grace period|Hope for recovery|Gene therapy|Ray of light|Max dose|Mark the site|Bill the insurance|Chest wall|Long QT|Short gut|Young adult|White count|Brown sputum|Black stool|Green sputum|Gray matter|Baker cyst|Cook catheter|Bishop score|King vision|Hill-Sachs lesion|Bell palsy|Page kidney|Stone protocol CT|Wood's lamp|Field block|Banks of donors|Price of {drug}] [noted|considered|discussed|reviewed|documented|].
[Hispanic|Caucasian|African American|Asian|White|Black|Native American|French-speaking|Spanish-speaking|Mexican|Indian|Chinese] {sex} with {condition}[, {age} years old|].
[ICU|ED|OR|PACU|NICU|CCU|ER|Clinic|Ward] [team|day {n}|bed available|rounds|nurse|protocol|handoff] [notified|reviewed|complete|pending|].
[Na|K|Cl|CO2|BUN|Cr|WBC|Hgb|Plt|AST|ALT|ALP|Ca|Mg|Phos|INR|PTT|BNP|CRP|ESR|TSH|LDL|HDL] {n}.{n} [(L)|(H)|] [mmol/L|mg/dL|g/dL|U/L|x10^9/L|%|]
{header}:[ |\n]{condition}. {symptom}. [{drug} {nn} mg.|{procedure}.|No {symptom}.]
[What|Which] [is|are] [the |][best |]{abbr} for [pt|a pt|pts|a {age}yo [M|F]] [w/|with|w/o] [hx of|h/o|known|] {abbr}[, {abbr}| & {abbr}| and {condition}| on {drug}|]?
[{age}yo|{age} y/o|{age}M|{age}F] [w/|with] [h/o|PMH of|hx] {abbr}, {abbr}, [and |]{abbr} [p/w|presents w/|c/o|admitted for] {symptom}. {abbr} {phrase}.
{abbr} [mgmt|mngmt|tx|dx|guidelines|workup|protocol|dosing|management|treatment] [in|for|of] {abbr} [and|&|vs|w/] {abbr}[?|.|, {lab}.|]
[PMH|PMHx|Hx|Medical history|Problems]: {abbr}, {abbr}, {abbr}, {condition}[, s/p {procedure}|].
{abbr}: {abbr} {phrase}, {abbr} {lab}.
[diagnosed with|treated for|history of|due to|risk of|on|with] {abbr} [and|or|in|like|since] [{phrase}|{abbr}|a {age}-year-old {sex}].
[our|the|my|your|a|this|their|her|local|outside|another|nearest] [clinic|hospital|practice|office|ward|unit|center|pharmacy|department|nursing home|facility|hospice|surgery|lab|ICU|ED] [in|on|at|for|since|is|was|has|and] {phrase}.
[visited|seen in|seen at|admitted to|went to|called|came to|referred to|discharged from] [our clinic|the clinic|our hospital|the hospital|urgent care|the ER|an outside hospital|the emergency room|the office|the ICU|a nursing home|primary care] [for|with|after|because of] {symptom}.
[anticoagulant|bone marrow|blood|antibiotic|steroid|insulin|opioid|stem cell|tumor marker|iron|oxygen|statin|wound|heart rate|lipid|thyroid] [therapy|biopsy|transfusion|panel|infusion|transplant|management|control|care|treatment|test] [in|for] [a {age}-year-old {sex}|{condition}|adults|patients with {abbr}].
[The|A|His|Her] {medical} [is|was|shows|revealed|showed|of] {prose}.
[On examination|Physical examination|Laboratory studies|Imaging|Ultrasound|Biopsy|CT|Workup|ECG|Microscopy|Blood tests] [shows|showed|revealed|reveals|demonstrated|were notable for|:] {prose}, {measure}.
[His|Her|The patient's] [temperature|pulse|blood pressure|respirations|heart rate|weight|hemoglobin|leukocyte count|platelet count|creatinine|sodium] [is|was] {measure}[, {measure}| and {prose}|].
{medical} {measure}, {medical} {measure}, {medical} {measure}[, {abbr} {measure}|].
[We|This study|The authors|Patients|Results|Data|Groups] [evaluated|found|were|showed|compared|had|underwent] {prose} ({measure}).
[OBJECTIVE|METHODS|RESULTS|CONCLUSION|BACKGROUND|AIM]: {prose}.
A {age}-year-old {sex} [comes to the physician|is brought to the emergency department|presents to the clinic|is admitted] because of {symptom}. {prose}. [Which of the following is the most likely {medical}?|{measure}.|]
[There is|There was|No|With|Without|Mild|Severe|Bilateral|Left|Right|Acute|Chronic] {medical} {medical}[ of the {medical}| in the {prose}|].
{drug} [and|plus|with] {drug} {prose}.
{Word} {medical} {prose}. {measure}.
{header}
{drug}
{condition}
{thing}
[{n}.|-|*|•] {drug} {nn} mg\n[{n}.|-|*|•] {condition}\n[{n}.|-|*|•] {procedure} with {specialty}
[Answer|Respond|Return|Output|Choose] [the following question|only yes or no|in JSON|with one letter|the best answer]: [A|B|C|D]. {drug} [B|C|D]. {drug}
[As an AI|You are a helpful medical assistant|As a language model], [I cannot|answer|summarize|explain] {symptom}, {condition} and {drug}.
[In|Among|For] [patients|women|men|children|adults] [aged|older than|over|under] {age} [years|] with {condition}, {drug} [was associated with|reduced|improved] {symptom} ([HR|OR|RR] 0.{nn}, 95% CI 0.{nn}-0.{nn}, p=0.0{n}).
[The DAPA-HF|The PARADIGM|The SPRINT|The ARISTOTLE|A KEYNOTE|The CheckMate|The RECOVERY|The {Word}] trial [showed|found|enrolled] [{nn} patients|a benefit of {drug}|no difference].
[Phase {n}|Stage {n}|Grade {n}|Type {n}|Class {n}|Level {n}|Week {n}|Day {n}|Cycle {n}|Step {n}|Dose {n}|Trial {n}|Option {n}|Group {n}] [{condition}|of {drug}|treatment|{phrase}|results].
[Best practices|Risk factors|Treatment options|Management|Screening|Prognosis|Complications|Follow-up|Contraindications] [for|of|in] {condition} [in a {age}-year-old {sex}|with {lab}|and {condition}|after {procedure}|in adults|].
[Vaccine|Vaccination|Immunization] schedule: {drug} at {n} months, {drug} at {n} years. [Flu shot|COVID booster|Tdap] given.
[Hospital|Clinic|Outpatient|Emergency department|Inpatient|Nursing home|Surgical|Medical] [policy|guidelines|staff|admission|discharge|stay|visit|course] [for|of|in] {condition} [reviewed|{phrase}|].
The [hospital|clinic|emergency department|primary care clinic|medical center|nursing home|pharmacy|lab|operating room] [was notified|recommends {procedure}|called|is aware|{phrase}].
{Word} {word} {word}: {condition}; {Word} {phrase}; {lab}.
{clause}. {drug} {clause}. {Word} {clause}, {eponym} {phrase}.
""")

# Of anything else, without anybody in it.
HARMLESS_EVERYDAY = _lines(r"""
{Word} {clause}.
{Word} {clause}. {Word} {clause}.
{Word} {Word} {phrase}
{Word} {Word} {Word} {Word}
[The|A|This|My|Your|Our|Their|Every|Some|No|All|These|Those] {word} {clause}[.|?|!]
[I|We|You|They|He|She|It|Who|What|Where|When|Why|How|There|Here|Nobody|Everyone|Someone] {clause}[.|?|!]
[Yes|No|Okay|Sure|Thanks|Please|Sorry|Well|Actually|Maybe|However|Therefore|Moreover|Meanwhile|Finally|Also|Then|Unfortunately|Fortunately|Hello|Hi|Hey|Good morning], {clause}[.|!|?]
[How|Where|When|Why] [do|can|should|does|is|was] [I|we|it|one|the {word}] {phrase}?
How do I [change|reset|cancel|check|increase|update|close|open|find] my [password|order|card limit|PIN|balance|account|subscription|flight|address]?
[On|By|Until|Since|Every|Next|Last|This] [{day}|January|March|May|June|Christmas|Easter|weekend|Thanksgiving|summer] {clause}.
{Word}: {phrase}\n{Word}: {phrase}\n{Word}: {phrase}
[1.|2.|-|*] {Word} {phrase}\n[2.|3.|-|*] {Word} {phrase}
[Step {n}|Chapter {n}|Section {n}|Part {n}|Figure {n}|Table {n}|Question {n}|Version {n}.{n}|Page {n}|Room temperature|Level {n}]: {clause}.
{Word} {word} [in {year}|{nn}%|{nn} {word}|of {nn}], {clause}.
[Python|Java|Excel|Linux|Windows|Android|Wi-Fi|Bluetooth|GPS|HTML|JSON|SQL|PDF|USB|DNA|AI|TV|CEO|VAT|FAQ|ASAP|FYI|OK|USD|EUR] {clause}.
[English|French|German|Spanish|Chinese|Italian|Roman|Greek|Victorian|Gothic|Latin|Christian|Buddhist|European|American|Japanese|Bayesian|Newtonian|Freudian] {word} {clause}.
"{Word} {clause}," [he|she|they|I] said.
[He|She|They|We|I] {phrase} "{clause}".
[Dear|Hello] [customer|team|all|sir or madam|colleagues|everyone|friends|hiring manager|valued customer], {clause}. [Best regards|Sincerely|Thank you|The support team].
[Monday|Tuesday|Wednesday|Thursday|Friday]: {phrase}; [Saturday|Sunday]: {phrase}.
[Total|Subtotal|Tax|Price|Amount|Quantity|Status|Item|Type|Color|Size|Model|Version|Title|Subject|Note|Comment|Description|Category]: {Word} {phrase}
[North|South|East|West|Upper|Lower|Left|Right|Central|Internal|External|General|Public|Private|National|International|Global|Local] {word} {clause}.
[God|Internet|Earth|Moon|Sun|Mars|Venus|Bible|Halloween|Olympics|World Cup|Nobel Prize|Big Bang|Cold War|Middle Ages|Ice Age|Black Friday] {clause}.
[Can|Could|Would|Will] you [please |][help|tell|show|give|send|explain to] me [{phrase}|how to {phrase}|what {phrase} means]?
[I|We] [want|need|would like|have|tried|forgot|lost|cannot find|am trying] [to |]{phrase}[.|, can you help?| and {phrase}.]
[What|Which|Whose] {word} [is|are|was|do you] {phrase}?
[My|The] [card|order|account|bill|phone|internet|app|login|payment|refund|package|computer] [is|was|has been|does not|keeps] {phrase}[.|, what should I do?]
[The|A|My|Your|Our|This] {abbr} {clause}.
{clause} {abbr} {clause}[.|?|!]
[Is|Are|Can|Does|Do|Why is|How is] [the |my |your |]{abbr} {phrase}?
[at|from|near|in|with|on|using] [the |an |]{abbr} [center|machine|card|station|office|app|screen] {phrase}
They {verb} {phrase}, {clause}. It {verb} {clause}.
[This|It|That|Everybody|Nobody|The {word}] {verb} {phrase} [and|but|because|so] [it|they|we|I] {verb} {clause}.
[The|Our|Most|Many|Some|Few] {word} {word} {verb} {phrase}, {phrase}, and {phrase}.
"{clause}" and "{clause}"
{Word} [and|or|of|for|versus|vs.|&] {Word} [{phrase}|].
{word}
{phrase}
{clause}
""")
