"""Rules, beyond those of `patterns`, for identifiers as written in Latin America or dictated ("tres de mayo")."""

from typing import Final

from agent.redaction.rules.es.patterns import NOT_ON, UNITS
from agent.redaction.rules.rulebook import CODE, WORDS, Digits, Listed, Rule, Signs

_CAPITALISED = r"\p{Lu}[\p{L}\p{M}'-]{1,30}\.?"
_LINK = r"(?:de(?: los?| las?|l)?|la|las|los|el|y)"
_NAME = rf"(?:(?:\d{{1,2}} de )?{_CAPITALISED}(?: (?:{_LINK} ){{0,2}}{_CAPITALISED}){{0,4}})"
_ORDINAL = r"(?:primer|segundo|tercer|cuarto|quinto|sexto|s[ée]ptimo|octavo|noveno|d[ée]cimo)"
# Text after a house number: "depto. 804", "apto 501", "torre B", "Mz. 4 Lt. 12", "segundo piso".
_WITHIN = (
    rf"(?:,? {{0,2}}(?i:(?:apto|apartamento|dep(?:to|artamento)|dpto|interior|int|oficina|of|torre"
    rf"|bloque|block|manzana|mza?"
    r"|lote|lt|casa|piso|local|bis|edificio|unidad|puerta|timbre)\b\.? {0,2}(?:n[o°º]\.? ?)?"
    r"(?-i:\d{1,4}[A-Z]?|[A-Z])\b"
    rf"|{_ORDINAL} piso|\d{{1,2}}[º°o]? piso|piso \d{{1,2}}|planta (?:baja|alta))){{0,4}}"
)
_COLONY = (
    r"(?:,? (?i:col(?:onia)?\b\.?|fracc(?:ionamiento)?\b\.?|barrio|urb\b\.?|reparto|villa"
    rf"|sector) {_NAME})?"
)
# "Los Aromos 1432, depto. 804", "9 de Octubre 1205 y Boyacá"
_HOUSE = (
    rf"{_NAME}(?: (?:#|[Nn][o°º]\.?))? ?\d{{1,5}}[A-Z]?\b(?! ?(?:años|mg|ml|h\b)){_WITHIN}"
    rf"(?: y {_NAME})?{_COLONY}"
)
# The street grid of Colombian towns: "Carrera 43A No. 7-50", "Cl 72 # 10-34 apto 501"
_GRID = (
    r"(?i:calle|cll?|carrera|cra|kra?|cr|avenida|av|diagonal|dg|transversal|tv"
    r"|autopista)\b\.? {0,2}\d{1,3} ?[A-Za-z]{0,2}"
    r"(?: (?i:bis|sur|norte|este|oeste)){0,2},? {0,2}(?:#|[Nn][o°º]\.?|n[úu]mero) {0,2}\d{1,3} ?[A-Za-z]?"
    rf"(?: (?i:bis|sur|norte|este))? ?-? ?\d{{1,3}}\b{_WITHIN}"
)
_IN_WORDS = (
    r"(?:\L<one_to_nine>|primero|diez|once|doce|trece|catorce|quince"
    r"|dieci(?:s[ée]is|siete|ocho|nueve)|veinte|veinti(?:[úu]no?|d[óo]s|tr[ée]s|cuatro|cinco"
    r"|s[ée]is|siete|ocho|nueve)"
    r"|treinta(?: y uno?)?)"
)
_MONTH = r"\L<months>"
_YEAR_IN_WORDS = (
    r"(?:(?:dos mil|mil novecientos)(?: (?:y )?(?:treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa"
    rf"|{_IN_WORDS}))?(?: y (?!una?\b)\L<one_to_nine>)?)"
)
_MONTH_OR_SHORT = r"(?:\L<months>|\L<months_in_short>|set)"

RULES: Final = (
    # Dates: "19/ene/2023", "tres de mayo de dos mil veintiuno", "mayo de dos mil veinte"
    Rule(
        "DATE",
        Digits(1, 2),
        rf"(?i)(?<![\w/.])(?:3[01]|[12]\d|0?[1-9])[/. -]{{1,2}}{_MONTH_OR_SHORT}\.?[/ -]{{1,2}}(?:(?:19"
        rf"|20)\d\d|\d\d)(?![\w])",
    ),
    Rule(
        "DATE",
        WORDS,
        rf"(?i)\b{_IN_WORDS} de {_MONTH}\b(?: (?:del? )?(?:año )?(?:{_YEAR_IN_WORDS}|\d{{4}})\b)?",
    ),
    Rule(
        "DATE",
        WORDS,
        rf"(?i)\b{_MONTH} del? (?:año )?{_YEAR_IN_WORDS}\b",
    ),
    Rule(
        "DATE",
        WORDS,
        r"(?i)(?<=\b(?:en|del?|desde|año|hasta) )dos mil (?:uno|dos|tres|once|doce|trece)\b"
        r"(?! pacientes)",
    ),
    # A child's age between commas: ", de 5 meses,"
    Rule(
        "AGE_BELOW_90",
        Digits(1, 2),
        r"(?i)(?<=(?:[\p{L}],|niñ[oa]|beb[ée]|lactante),? de )\d{1,2} (?:mes(?:es)?|d[íi]as|semanas)"
        r"(?= ?(?:[,;.(]|que\b|con\b))",
    ),
    # Telephones: "(011) 4783-2290", "55 4821 9073", "9 7734 1180", "310 448 2291", and any number after a cue
    Rule(
        "PHONE",
        Signs(("(",)),
        r"\((?:\+?\d{1,3}[ -]?)?(?:9 )?0?\d{2,4}\) ?(?:15[ -])?\d{2,4}[ -]?\d{4}(?![\w-])",
    ),
    Rule(
        "PHONE",
        Digits(1, 4),
        r"(?<![\w.,/+-])(?:\d{2}[ -]\d{4}[ -]\d{4}|9[ -]\d{4}[ -]\d{4}|3\d{2}[ -]\d{3}[ -]\d{4}"
        r"|\d{3}[ -]\d{3}[ -]\d{4}"
        r"|\d{3}[ -]\d{3}[ -]\d{2}[ -]\d{2}|0\d{2,4}[ -]\d{3,4}[ -]?\d{4}"
        r"|\d{2}[ -]\d{2}[ -]\d{2}[ -]\d{2}[ -]\d{2})"
        r"(?![\w]|[.,/-]\d)",
    ),
    Rule(
        "PHONE",
        WORDS,
        r"(?i)\b(?:contacto|cel(?:ular|l)?|whatsapp|wsp|m[óo]vil|fono|fijo|ll[áa]m(?:ar|eme)|marcar"
        r"|n[úu]mero(?: de (?:contacto|tel[ée]fono|celular))?|casa)\b\.?"
        r"(?: (?:es|al?|el|n[o°º]\.?|n[úu]mero)){0,3}[ :.-]{1,4}\K[(+]{0,2}\d[\d ().-]{6,18}\d(?![\w/])",
    ),
    # Streets
    Rule(
        "ADDRESS",
        WORDS,
        rf"(?<![\p{{L}}\d]){_GRID}",
    ),
    Rule(
        "ADDRESS",
        WORDS,
        rf"(?<![\p{{L}}\d])(?i:avenida|avd?a?|calle|calz(?:ada)?|blvd|boulevard|bulevar|pasaje|psje|pje"
        rf"|jir[óo]n|jr"
        rf"|prolongaci[óo]n|priv(?:ada)?|cerrada|circuito|callej[óo]n|andador|retorno|camino|malec[óo]n"
        rf"|rambla|ruta)\b\.?"
        rf" (?:{_LINK} ){{0,2}}{_HOUSE}",
    ),
    Rule(
        "ADDRESS",
        WORDS,
        rf"(?i)\b(?:domiciliad[oa]|domicilio|direcci[óo]n|viv[eo]|viv[íi]a|resid[eo]|residente|ubicad[oa])"
        rf"(?: (?:actualmente|solo|sola|actual|en|es)){{0,3}}[ :]{{1,3}}(?:la |el )?\K(?-i:{_HOUSE})",
    ),
    Rule(
        "ADDRESS",
        "calle avenida av avda pasaje plaza c",
        rf"(?i)(?<![\p{{L}}\d])(?:calle|avenida|avda?\.?|pasaje|plaza|c/) ?(?:(?:del?|las?|los"
        rf"|el) ){{0,3}}\p{{L}}{{3,20}}"
        rf"(?: \p{{L}}{{2,20}}){{0,3}}? (?:n[úu]mero )?\d{{1,4}}\b(?! ?(?:años|mg|d[íi]as|h\b)){_WITHIN}",
    ),
    Rule(
        "LOCATION",
        WORDS,
        rf"(?i)\b(?:barrio|colonia|comuna|vereda|corregimiento|parroquia|cant[óo]n|distrito|alcald[íi]a"
        rf"|delegaci[óo]n"
        rf"|municipio|partido)(?: del?)? \K(?-i:(?:El |La |Los |Las )?{_CAPITALISED}(?: "
        rf"(?:{_LINK} ){{0,2}}{_CAPITALISED}){{0,3}})",
    ),
    # A town after a house number: "..., depto. 804, Ñuñoa"
    Rule(
        "LOCATION",
        Digits(1, 5),
        rf"(?<=\b(?i:domiciliad[oa] en|domicilio:?|direcci[óo]n:?|(?:vive"
        rf"|reside) en) [^\n;:]{{3,60}})\d{{1,5}}[A-Z]?"
        rf"(?: piso)?, \K{_CAPITALISED}(?: (?:{_LINK} ){{0,2}}{_CAPITALISED}){{0,2}}(?=[.,;\n(]|$)",
    ),
    Rule(
        "LOCATION",
        WORDS,
        r"(?<=\b(?:conect\p{L}{1,5}|llam\p{L}{1,5}|escrib\p{L}{1,5}|vien\p{L}{1,4}|lleg\p{L}{1,5}"
        r"|traslad\p{L}{1,5}"
        rf"|viaj\p{{L}}{{1,5}}|deriv\p{{L}}{{1,5}}|vuel\p{{L}}{{1,5}}) )(?:desde|hacia) (?:la |el )?\K"
        rf"(?!(?:Urgencias|UCI|Consulta|Hospital|Centro|Servicio|Unidad|Planta|Atenci"
        rf"|[A-Z]{{2,}}\b)){_CAPITALISED}(?: (?:{_LINK} ){{0,2}}{_CAPITALISED}){{0,2}}",
    ),
    # Rooms
    Rule(
        "FACILITY",
        WORDS,
        r"(?i)\b(?:hab|consultorio|sala|pabell[óo]n|cub[íi]culo)\b\.?(?: n[o°º]\.?)?[: ]{1,2}\K"
        r"(?=[A-Z-]{0,3}\d)[A-Z\d-]{1,7}\b",
    ),
    # Personal identity numbers: CURP, RFC, RUT, CUIL, cédulas, national and insurance numbers
    Rule(
        "LICENSE",
        CODE,
        r"(?i)(?<![\w-])[A-ZÑ&]{3,4}\d{6}(?:[HM][A-Z]{5}[A-Z\d]\d|[A-Z\d]{3})(?![\w-])",
    ),
    Rule(
        "LICENSE",
        WORDS,
        r"\b(?:C\.?I|CC|CE|TI|RC)\b\.?(?: (?:N[o°º]\.?|n[úu]mero))?[ :]{1,2}\K"
        r"(?:[VEJP]-?)?\d[\d.]{4,12}\d(?:-\d)?\b",
    ),
    Rule(
        "LICENSE",
        Digits(1, 2),
        rf"(?<![\w.,/-])(?:\d{{1,2}}\.\d{{3}}\.\d{{3}}-[\dKk]|\d{{2}}\.\d{{3}}\.\d{{3}}){NOT_ON}{UNITS}"
        r"(?! ?(?:copias|leuco|plaq|euros|pesos|habit|dólares|US))",
    ),
    Rule("LICENSE", Digits(7, 8, "-"), r"(?<![\w.,/-])\d{7,8}-[\dKk](?![\w-])"),
    Rule("LICENSE", Digits(2, 2, "-"), r"(?<![\w.,/-])\d{2}-\d{8}-\d(?![\w-])"),
    Rule(
        "PLAN",
        Digits(2, 4),
        r"(?<![\w.,/-])\d{2}(?:\d{2}[ -]\d{2}|[ -]\d{2}[ -]\d{2})[ -]\d{4}[ -]\d(?![\w-])",
    ),
    Rule(
        "PLAN",
        WORDS,
        r"(?i)\b(?:afiliad[oa]|afiliaci[óo]n|asegurad[oa]|beneficiari[oa]|credencial|carn[ée]t?"
        r"|soci[oa]|NSS|IMSS)\b\.?"
        r"(?: (?:n[o°º]\.?|n[úu]mero|num\.?))?[ :.#]{1,3}\K(?=[A-Z-]{0,4}\d{2})[A-Z\d][A-Z\d /-]{4,20}\d\b",
    ),
    Rule(
        "ENCOUNTER",
        WORDS,
        r"(?i)\b(?:folio|expediente|registro|protocolo|autopsia|biopsia|orden|turno|radicado)\b(?: "
        r"(?:n[o°º]\.?|n[úu]mero))?"
        r"[ :.#]{1,3}\K(?=[A-Z/-]{0,4}\d{2})[A-Z\d][A-Z\d/-]{3,20}\b(?! ?(?:años|mg|ml))",
    ),
    Rule("ENCOUNTER", CODE, r"(?<![\w.-])[A-Z]{1,2}\d{2}[-/]\d{4,6}(?![\w-])"),
    Rule(
        "VEHICLE",
        WORDS,
        r"(?i)\b(?:placas?|patente|matr[íi]cula|dominio)\b(?: n[o°º]\.?)?[ :]{1,2}\K"
        r"(?-i:[A-Z]{2,4}[ -]?\d{2,4}(?:[ -]?[A-Z]{1,3})?|[A-Z]{2}[ -]?[A-Z]{2}[ -]?\d{2})\b",
    ),
    Rule(
        "DEVICE",
        WORDS,
        r"(?i)(?<![\w])(?:n/s|s/n|sn|serie)[ :.]{1,2}\K(?=[A-Z-]{0,6}\d{3})[A-Z\d][A-Z\d-]{4,20}\b",
    ),
    # "33 a," and "martes 18/07"
    Rule("AGE_BELOW_90", Digits(1, 2), r"(?i)(?<=[\p{L}], )\d{1,2} ?a(?:[ñn]os)?\.?(?= ?[,;.])"),
    Rule(
        "DATE",
        Listed("weekdays"),
        r"(?i)\b[\p{L}]{5,9},? (?:el )?(?:d[íi]a )?(?:3[01]|[12]\d|0?[1-9])(?:[/-](?:1[0-2]|0?[1-9]))?"
        r"(?:[/-]\d{2,4})?(?![\w/%])",
    ),
    Rule(
        "DATE",
        "control cita turno consulta cirugía cirugia egreso ingreso alta fur fum fpp",
        r"(?i)\b[\p{L}]{3,8}(?: (?:el|para el))?[ :]{1,3}\K(?:\L<weekdays>"
        r"|(?:3[01]|[12]\d|0?[1-9])/(?:1[0-2]|0?[1-9])(?:/\d{2,4})?)(?![\w/%])",
    ),
    # Licence numbers of clinicians: "MP 44.192", "RM 25-4418/09", "Céd. Prof. 5519023"
    Rule(
        "LICENSE",
        WORDS,
        r"(?:\b(?:RM|MP|MN|M\.P|M\.N|RME|CMP|DPI)\b\.?|(?i:\b(?:c[ée]d(?:ula)?\.? prof(?:esional)?|reg"
        r"(?:istro)?\.? m[ée]d(?:ico)?"
        r"|mat(?:r[íi]cula)?\.?(?: (?:prof(?:esional)?|nac(?:ional)?|prov(?:incial)?))?)\b\.?))"
        r"(?: [Nn][o°º]\.?)?[ :]{1,2}\K"
        r"\d[\d .-]{2,16}\d(?:/\d{1,4})?(?![\w]| ?(?:ms|%|mg))",
    ),
    # "6a avenida 12-45 zona 1"
    Rule(
        "ADDRESS",
        Digits(1, 2),
        r"(?i)(?<![\w.,/-])\d{1,2} ?(?:[aªo°]\.?|ra\.?|da\.?|ta\.?)? ?(?:avenida|calle|av\.?) "
        r"(?:\"?[a-z]\"? )?\d{1,3}-\d{1,3}\b"
        r"(?:,? zona \d{1,2})?",
    ),
    Rule("ADDRESS", WORDS, r"\b[Zz]ona \d{1,2}(?=, ?\p{Lu}\p{Ll})"),
    Rule(
        "FACILITY",
        WORDS,
        rf"\b(?:Torre M[ée]dica|Posta(?: Rural)?|CESFAM|CAPS|UMF|HGZ|HGR|IPS|Unidad de Medicina Familiar)"
        rf"(?: (?:N[o°º]\.? ?)?\d{{1,3}}\b| (?:{_LINK} ){{0,2}}{_NAME})",
    ),
    Rule(
        "PROFESSION",
        WORDS,
        r"(?i)\b(?:labor(?:a|aba|[óo])|desempeñ(?:a|aba))(?: (?:en|para) [^,.;\n]{3,40}?)? (?:como|de) \K\p{L}{4,20}"
        r"(?: (?:de|del|en) (?:la |el )?\p{L}{3,20})?",
    ),
)
