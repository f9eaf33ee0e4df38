r"""The patterns of identifiers in clinical Spanish: one table of rules, by entity.

The patterns are for the `regex` module: they are case-sensitive unless they contain `(?i)`, and `\K` discards the cue
before an identifier. Texts have been folded (see `agent.redaction.views.folding`), so they contain only plain digits,
hyphens, quotes and spaces.
"""

from typing import Final

from agent.redaction.entities import Entity
from agent.redaction.rules.rulebook import CODE, LONG, WORDS, Digits, Listed, Rule, Signs

_NUMBER = r"(?:\L<numbers>|\L<tens>(?: y \L<one_to_nine>)?)"
_OVER_89 = r"(?:9\d|1[0-2]\d|noventa(?: y \L<one_to_nine>)?|cien|ciento \w{2,9})"
_MONTH = r"\L<months>\b"
_SHORT_MONTH = r"\L<months_in_short>\b\.?"
_YEAR = r"(?:19\d\d|20[0-4]\d)"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_WEEKDAY = r"\L<weekdays>"
NOT_ON = r"(?![\w/]|[.,-]\d)"
UNITS = (
    r"(?! ?(?:m[lgcm]\b|mg|µ|mcg|g\b|gr\b|kg|cc\b|c\.c|UI\b|U\b|U/|u/|x\b|%|/|mm|cm|c[ée]l|l[ií]n|leuc|pl|cop|kcal"
    r"|cal\b"
    r"|ng|pg|mEq|mmol|nm\b|Hz|rpm|ppm|Gy|cGy|rad|s\b|seg|ms\b|W\b|J\b|mJ|puntos|veces|pacientes|casos|por (?:campo"
    r"|mm|ml|minuto|c)|ºC|ml"
    r"|gramos|litros|dosis|unidades|hemat|mill|metros))"
)

_CAPITALISED = r"(?:(?:[dlDL]['´’])?\p{Lu}[\p{L}\p{M}'.·-]*\p{L}|\p{Lu}\.?)"
_LINK = r"(?:de(?: los?| las?|l)?|la|las|los|el|y|e|i|of|do|da|dos|das)"
_NAMED = rf"(?:(?: {_LINK}){{0,3}} [\"«“']?{_CAPITALISED}[\"»”']?|(?: de)? \d{{1,2}} de [Oo]ctubre){{1,6}}"

# A name ends before the words with which a signature continues: "Dra. Ana Gil Servicio de Urología Hospital del Mar".
STOP = r"(?!(?i:\L<ends_of_names>|n[ºo°]?\.? ?col)(?![\p{L}]))"
# Words for streets. Those of the second group are also words of prose, and require a number after the name.
_STREET = (
    r"(?:(?i:C ?[/\\]\.?|\L<streets>|avd?a?\b\.?|pso?\b\.?|p[ºo°]\.?|pza?\b\.?|plz?a?\b\.?|ctra\b\.?|carr\.|cno\.?"
    r"|rda\.|trav\.|trva\.?|gta\.|cra\.|pje\.|urb\.|bda\.|edf\.|blvd\.?)|\L<streets_with_capital>)(?![\p{L}])"
)
_PROSE_STREET = r"(?i:\L<streets_in_prose>)(?![\p{L}])"
# A word of a town's name, preceded by a space or a hyphen except for the first.
_TOWN = rf"(?:(?<=\p{{L}})[ -](?:{_LINK} ){{0,2}}|(?<!\p{{L}})){STOP}\p{{Lu}}[\p{{L}}'-]{{1,30}}"
# The rest of an address after the street: numbers, floors, doors, kilometres.
_DOOR = (
    r"(?:,? {0,2}(?:s ?/ ?n\b\.?|SN\b|n[ºo°]\.? ?\d{1,4}|no\.? \d{1,4}|(?:[Kk]m|KM)\.? ?\d{1,4}(?:[.,]\d{1,3})?|#?"
    r" ?\d{1,4}(?: ?- ?\d{1,4})?(?!\d))"
    r"(?:,? ?[-/]?,? ?(?:\d{1,2} ?(?:\.?[ºªo°ao]\.?)?(?![\d\w])(?: ?-? ?[\p{L}]\b\.?)?|[A-Z]\b\.?|(?i:bajo|izq"
    r"(?:uierda|da)?\b\.?|dcha?\b\.?"
    r"|derecha|piso|planta|puerta|pta\.?|portal|bloque|esc(?:alera)?\.?|[áa]tico|entresuelo|ent\.|local|bis|int\."
    r"|dpto\.?"
    r"|torre|casa|\d{1,2} ?(?:ro|do|to|mo|vo|no|er)\b)\.?)){0,6})"
)

_KIN = (
    r"(?:\L<kin>|(?<!soluci[óo]n |c[ée]lula |c[ée]lulas )madres?|familia(?: de [\p{L}]{3,6} miembros)?"
    r"|prim[oa]s?(?= (?:hermana?|matern|patern|carnal|segund|de rama|del|de su|por))"
    r"|(?<=\b(?:el|un|su|referido|otro) )familiar(?! de)"
    r"|pareja(?= (?:sentimental|sexual|estable|actual|femenina|masculina))"
    r"|(?<=\b(?:su|la) )pareja|(?<=relaci[óo]n de )pareja|(?<=\b(?:su|con) )mujer)"
)
_HOW_MANY = (
    r"(?:un[oa]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|[1-9]|\d\d|amb[oa]s|much[oa]s|vari[oa]s"
    r"|el (?:mayor|menor|segundo|tercero|primero) de|la (?:mayor|menor|segunda|tercera|sexta|primera) de"
    r"|primer[oa]?|segund[oa]|tercer[oa]?)"
)
_RELATED = (
    r"(?: (?:matern|patern)[oa]s?| mayor(?:es)?| menor(?:es)?| mediano| pequeñ[oa]s?| de rama (?:matern|patern)a|"
    r" gemel[oa]s?| carnal(?:es)?|"
    r" biológic[oa]s?"
    r"| varon(?:es)?| var[óo]n| herman[oa]s?| adoptiv[oa]s?| de primer grado| de segundo grado| primogénit[oa]|"
    r" j[óo]ven(?:es)?| san[oa]s?(?= y \w+ san[oa]s))"
)

_FACILITY = (
    r"(?:(?:\L<facilities>|[Cc]omplejo(?= [HhA])|cl[íi]nica(?= (?:de la |de )?\p{Lu}\p{Ll})|CHU[A-Z]?|C\.?S\.?|H\.U\."
    r"|Asociaci[óo]n(?= (?:de (?:[Ee]nfermos|[Ff]amiliares|[Aa]fectados|[Vv]ecinos)|para|contra)))"
    r"(?! (?:de )?[Dd][íi]a\b)"
    r"(?: (?:[Mm]aterno[- ]?[Ii]nfantil|[Uu]niversitari[oa]?|[Gg]eneral|[Cc]l[íi]nic[oa]?|[Pp]rovincial"
    r"|[Cc]omarcal|[Rr]egional|[Mm]ilitar"
    r"|[Hh]ospitalari[oa]|[Ii]nfantil|[Cc]entral|[Nn]acional|[Mm][ée]dic[oa]|[Dd]ocente|[Pp]rivad[oa]|[Ii]nsular"
    r"|de [Ss]alud|de [Dd]ía|[Ss]anitari[oa]|[Pp][úu]blico|[Uu]niversitat[a-z]*|[Oo]ncol[óo]gic[oa]|Superior))*"
    rf"{_NAMED})"
)


_Beginning = str | Listed | Digits | Signs


def _make_rules(
    entity: Entity, begins: _Beginning | list[_Beginning], pattern: str
) -> tuple[Rule, ...]:
    """Return one rule with the pattern for each kind of start."""
    beginnings = begins if isinstance(begins, list) else [begins]
    return tuple(Rule(entity, beginning, pattern) for beginning in beginnings)


RULES: Final = (
    *_make_rules(
        "DATE",
        Digits(1, 4, "/-. "),
        rf"(?<![\w/.,-])(?:{_DAY} ?[/.-]{{1,2}} ?(?:1[0-2]|0?[1-9]) ?[/.-]{{1,2}} ?{_YEAR}|{_DAY}([/-])"
        rf"(?:1[0-2]|0?[1-9])\1\d\d|{_YEAR} ?[/.-] ?(?:1[0-2]|0?[1-9]) ?[/.-] ?{_DAY}){NOT_ON}",
    ),
    *_make_rules(
        "DATE",
        [
            Digits(1, 2),
            WORDS,
        ],
        rf"(?i)\b(?:(?:(?:{_WEEKDAY},? (?:el )?(?:d[íi]a )?)?(?:{_DAY}|uno|primero|dos|tres|cuatro|cinco|diez"
        rf"|quince|veinte)(?:º|o)?(?: y {_DAY})?[ -]?(?:de[ -])?)?(?:(?:mes de )?(?:{_MONTH} (?:y|e|a|o"
        rf"|hasta) )?{_MONTH}|(?<=\d[ -]|\d de ){_SHORT_MONTH})(?:,?[ -]?(?:(?:del? )?(?:año )?{_YEAR}|"
        rf"(?:del? )?(?:año )?'?\d\d(?![\d/:]|\w|[.,]\d)(?! ?(?:mg|a[ñn]os|d[íi]as|%|h\b|horas|semanas|mm|cm"
        rf"|ml)))|(?= ?/ ?{_YEAR}))?(?: ?/ ?{_YEAR})?)",
    ),
    *_make_rules(
        "DATE",
        Digits(1, 2, "/-"),
        rf"(?i)\b(?:1[0-2]|0?[1-9])[/-]{_YEAR}{NOT_ON}",
    ),
    *_make_rules(
        "DATE",
        WORDS,
        rf"(?i)(?<!\d)\b{_SHORT_MONTH}[ /-]?(?:{_YEAR}|(?<=[/-])\d\d\b)",
    ),
    *_make_rules(
        "DATE",
        WORDS,
        rf"(?i)\baños? (?:{_YEAR}|[6-9]\d\b)(?: ?(?:[-/]|a|y) ?(?:{_YEAR}|\d\d\b))?",
    ),
    *_make_rules(
        "DATE",
        WORDS,
        rf"(?i)\bd[ée]cada de (?:los )?\K(?:{_YEAR}|\d0\b|(?:cincuenta|sesenta|setenta|ochenta|noventa)\b)",
    ),
    *_make_rules(
        "DATE",
        Digits(4, 4),
        rf"(?<![\w.,/:=+<>~±-])(?:19[2-9]\d|20[0-4]\d)(?![\w]|[.,:]\d|/\d){UNITS}",
    ),
    *_make_rules(
        "DATE",
        Digits(4, 4),
        rf"(?<=\b{_YEAR} ?[-/] ?){_YEAR}(?![\w])",
    ),
    *_make_rules(
        "DATE",
        WORDS,
        rf"(?i)(?<=\b(?P<since>el|los|del? d[íi]a|del?|al?|d[íi]a) ){_WEEKDAY}\b(?: (?:{_DAY})\b)?",
    ),
    *_make_rules(
        "DATE",
        Digits(1, 2, "/"),
        rf"(?i)(?<=\b(?:el|del|al|día|dia|fecha) ){_DAY}/(?:1[0-2]|0?[1-9]){NOT_ON}(?! ?%)",
    ),
    *_make_rules(
        "DATE",
        WORDS,
        r"(?i)\b(?:navidad(?:es)?|nochebuena|nochevieja|semana santa|día de reyes)\b",
    ),
    *_make_rules(
        "RELATIVE_DATE",
        WORDS,
        rf"(?i)\bhace (?:(?:casi|unos|unas|m[áa]s de|menos de|aproximadamente) )?(?:\d{{1,3}}|{_NUMBER}|varios"
        rf"|varias|pocos|pocas) (?:a[ñn]os?|mes(?:es)?|semanas?|d[íi]as?|horas?|minutos)\b",
    ),
    *_make_rules(
        "RELATIVE_DATE",
        [Digits(1, 3), WORDS],
        rf"(?i)\b(?:\d{{1,3}}|{_NUMBER}|varios|varias) (?:a[ñn]os?|mes(?:es)?|semanas?|d[íi]as?|horas?) "
        rf"(?:antes|despu[ée]s|m[áa]s tarde|atr[áa]s|previos)\b",
    ),
    *_make_rules(
        "RELATIVE_DATE",
        WORDS,
        r"(?i)\b(?:anteayer|ayer|anoche|hoy|pasado ma[ñn]ana|ma[ñn]ana (?:por la (?:ma[ñn]ana|tarde|noche)"
        r"|a las)|esta (?:ma[ñn]ana|tarde|noche|semana))\b",
    ),
    *_make_rules(
        "RELATIVE_DATE",
        WORDS,
        r"(?i)(?<=\b(?P<since>(?:el|la|este|esta|del|pr[óo]xim[oa])(?: (?:pasad[oa]|pr[óo]xim[oa]))?) )"
        r"(?:a[ñn]o|mes|semana|fin de semana|verano|invierno|oto[ñn]o|primavera|d[íi]a) (?:pasad[oa]"
        r"|pr[óo]xim[oa]|que viene|anterior|siguiente)\b",
    ),
    *_make_rules(
        "RELATIVE_DATE",
        WORDS,
        rf"(?i)\b(?:desde|durante|en|dentro de) (?:los |las )?(?:[úu]ltim[oa]s |pr[óo]xim[oa]s )?(?:\d{{1,3}}"
        rf"|{_NUMBER}) (?:a[ñn]os?|mes(?:es)?|semanas?|d[íi]as?|horas?)\b",
    ),
    *_make_rules(
        "AGE",
        [Digits(2, 3), WORDS],
        rf"(?i)\b{_OVER_89}(?: ?años)(?! (?:de evoluci|de seguimiento|despu|antes|m[áa]s tarde))",
    ),
    *_make_rules(
        "AGE",
        WORDS,
        r"(?i)\b(?:nonage|cente)nari[oa]s?\b",
    ),
    *_make_rules(
        "AGE_BELOW_90",
        [Digits(1, 2), Listed("numbers"), Listed("tens")],
        rf"(?i)(?<!\b(?:hace|hac[íi]a|durante|tras|[úu]ltim[oa]s|primer[oa]s|cada|dentro de|antes de"
        rf"|despu[ée]s de|al cabo de|desde hace|pr[óo]xim[oa]s|siguientes|evoluci[óo]n de|seguimiento de"
        rf"|duraci[óo]n de|per[íi]odo de|tiempo de|supervivencia de|media de|lleva|luego de|era de|fue de"
        rf"|prolong[óo]|dur[óo]|ex ?fumador de|en|unos|por|transcurridos|pasados|menos de|m[áa]s de"
        rf"|durante m[áa]s de|casi) )(?<![\w.,/-])(?:\d{{1,2}}(?:[.,]\d)?|{_NUMBER})(?: ?(?:-|a|y|o) ?(?:los "
        rf"|las )?(?:\d{{1,2}}|{_NUMBER}))?[- ]{{0,3}}años?+\b(?: y (?:medio|(?:\d{{1,2}}|{_NUMBER}) (?:mes"
        rf"(?:es)?|d[íi]as|semanas)))?+(?! (?:de (?:evoluci|seguimiento|tratamiento|duraci"
        rf"|historia|supervivencia|antig|hist|segui|vigencia)|despu[ée]s|antes|m[áa]s tarde|previos|posteriores"
        rf"|consecutivos|libre|m[áa]s\b|desp[uú]es|previamente|atr[áa]s)|de (?:la|el|los|las)\b|del "
        rf"(?:trasplante|diagn|alta|inicio|tratamiento|ingreso|evento|episodio|inicio))",
    ),
    *_make_rules(
        "AGE_BELOW_90",
        [Digits(1, 2), WORDS],
        rf"(?i)\b(?:\d{{1,2}}(?:[.,]\d)?|{_NUMBER})(?: (?:y|a) (?:\d{{1,2}}|{_NUMBER}))?(?: (?:mes(?:es)?"
        rf"|d[íi]as?|semanas|horas)(?: y (?:medio|(?:\d{{1,2}}|{_NUMBER}) (?:d[íi]as|semanas|meses)))?) (?:de "
        rf"(?:edad|vida|gestaci[óo]n)|de nacid[oa]|\+ \d de)",
    ),
    *_make_rules(
        "AGE_BELOW_90",
        WORDS,
        rf"(?i)\b(?:niñ[oa]|lactante|beb[ée]|var[óo]n|hembra|mujer|paciente|neonato|reci[ée]n nacid[oa]"
        rf"|prematur[oa]|hij[oa]|herman[oa]|masculino|femenino)(?: [\p{{Ll}}]{{3,12}})? de \K(?:\d{{1,2}}"
        rf"|{_NUMBER})(?: y (?:\d{{1,2}}|{_NUMBER}))?(?: (?:mes(?:es)?|d[íi]as?|semanas|horas))(?: y (?:medio|"
        rf"(?:\d{{1,2}}|{_NUMBER}) (?:d[íi]as|semanas)))?",
    ),
    *_make_rules(
        "AGE_BELOW_90",
        WORDS,
        rf"(?i)\b(?:edad|vida) de (?:los )?\K(?:\d{{1,2}}|{_NUMBER})(?: y (?:\d{{1,2}}|{_NUMBER}))? ?(?:mes"
        rf"(?:es)?|d[íi]as|semanas)\b",
    ),
    *_make_rules(
        "AGE_BELOW_90",
        WORDS,
        r"(?i)\b(?:paciente|var[óo]n|mujer|hombre|niñ[oa]) de \K(?:\d{1,2})(?=[,.;] )",
    ),
    *_make_rules(
        "AGE_BELOW_90",
        Digits(1, 2),
        r"(?i)\b\d{1,2}(?= de edad\b)",
    ),
    *_make_rules(
        "AGE_BELOW_90",
        WORDS,
        r"(?i)\b(?:edad(?: actual)?(?: de)?|con edad de|de edad de)[: ]{1,2}\K\d{1,3}\b",
    ),
    *_make_rules(
        "AGE_BELOW_90",
        Digits(1, 2),
        r"(?i)(?<=\b(?:ten[íi]a|tiene|cumpli[óo]|con) )\d{1,2}(?: ?a(?:\.|ños))(?=\W)",
    ),
    *_make_rules(
        "AGE_BELOW_90",
        WORDS,
        r"(?i)\b(?:adolescente|lactante|reci[ée]n nacid[oa]|neonato|octogenari[oa]|septuagenari[oa]"
        r"|sexagenari[oa]|quincuagenari[oa]|ancian[oa]|prematuro|prematura)s?\b",
    ),
    *_make_rules(
        "AGE_BELOW_90",
        WORDS,
        r"(?i)\b(?:var[óo]n|mujer|paciente|hombre|niñ[oa])(?: [\p{Ll}]{3,12})?,? (?:de )?\K\d{1,2} ?a(?:\b\.?"
        r"|[ñn]os)",
    ),
    *_make_rules(
        "SEX",
        WORDS,
        r"(?i)(?:(?<=\b(?P<since>\d|dos|tres|cuatro) )|)(?:var[óo]n(?:es)?|mujer(?:es)?|hombres?|niñ[oa]s?"
        r"|masculin[oa]s?|femenin[oa]s?|hembras?|ancian[oa]s?|señora?|muchach[oa]|chic[oa]|joven)\b(?! "
        r"(?:soluble))",
    ),
    *_make_rules(
        "SEX",
        WORDS,
        r"\b(?i:sexo)[: ]{1,3}\K[HMFV]\b",
    ),
    *_make_rules(
        "FAMILY",
        WORDS,
        rf"(?i)(?:(?<=\b(?P<since>{_HOW_MANY}(?:(?: de (?:los|las|sus))? {_HOW_MANY})?)(?: de (?:los|las|sus))? )|)"
        rf"(?<![\p{{L}}\d]){_KIN}\b{_RELATED}{{0,3}}(?: de (?:su "
        rf"|un[ao]? |otr[oa] )?{_KIN}\b{_RELATED}{{0,2}}| con su pareja){{0,2}}(?: (?:invidente )?de "
        rf"(?:\d{{1,2}}|{_NUMBER})(?: y (?:\d{{1,2}}|{_NUMBER}))?(?: (?:años|meses)|(?=[,.;)]))"
        rf"| ?\(\d{{1,2}} años\))?(?: {{1,2}}(?-i:\p{{Lu}}\p{{Ll}}+(?: \p{{Lu}}\p{{Ll}}+){{0,3}}"
        rf"(?: y \p{{Lu}}\p{{Ll}}+(?: \p{{Lu}}\p{{Ll}}+){{0,3}})?))?",
    ),
    *_make_rules(
        "FAMILY",
        WORDS,
        r"(?i)\b(?:casad[oa]|solter[oa]|divorciad[oa]|separad[oa] (?=de su)|sin hijos|hij[oa] [úu]nic[oa]|"
        r"(?:niñ[oa]|hij[oa]) adoptad[oa]|homosexual|heterosexual|bisexual|transexual)\b",
    ),
    *_make_rules(
        "FAMILY",
        WORDS,
        r"(?i)\b(?:rama|v[íi]a|l[íi]nea|familia|herencia) \K(?:matern|patern)a(?: o (?:matern|patern)a)?\b",
    ),
    *_make_rules(
        "PROFESSION",
        WORDS,
        r"(?i)(?<=\bde )profesi[óo]n,? \K[\p{L}]{4,20}(?: (?:de|del|en|y) (?:la )?[\p{L}]{3,20}| "
        r"(?:agr[íi]cola|social|met[áa]lic[oa])){0,2}",
    ),
    *_make_rules(
        "PROFESSION",
        WORDS,
        r"(?i)\b(?:profesi[óo]n|ocupaci[óo]n): \K[\p{L}]{4,20}(?: (?:de|del|en) (?:la )?[\p{L}]{3,20}){0,2}",
    ),
    *_make_rules(
        "PROFESSION",
        WORDS,
        r"(?i)\b(?:trabaja(?:ba|dora?)?|trabaj[óo]|trabajado|ejerce)(?: (?:actualmente|habitualmente))? "
        r"(?:como|de|en)(?: (?:el|la|los|las|un|una))? \K(?!forma|manera|equipo|conjunto)[\p{L}]{4,20}(?: "
        r"(?:de|del|en) (?:la |las |los |el )?[\p{L}]{3,20}| [\p{Ll}]{6,15}(?:ista|nte|dora?|ic[oa]|al)){0,2}",
    ),
    *_make_rules(
        "PROFESSION",
        WORDS,
        r"(?i)\b(?:trabajador|emplead)[oa]?s? (?:de|del|en) (?:la |las |los |el |un |una )?[\p{L}]{4,20}"
        r"(?: [\p{L}]{5,14}[ao]l?)?",
    ),
    *_make_rules(
        "PROFESSION",
        WORDS,
        r"(?i)(?<=\b(?P<since>[\p{L}]{4,20}) de )profesi[óo]n",
    ),
    *_make_rules(
        "PROFESSION",
        WORDS,
        r"(?i)(?<=\bse )dedica(?:ba)? (?:a (?:la |las |los |el )?|al )\K[\p{L}]{4,20}(?: (?:de|del|en) (?:la "
        r"|las |los |el )?[\p{L}]{3,20}){0,2}",
    ),
    *_make_rules(
        "PROFESSION",
        "jubilado jubilada pensionista dependienta dependientas monitor monitora jugador jugadora "
        "entrenador entrenadora profesional ex exminero exprofesor exprofesora exmilitar exfutbolista "
        "expolicía exboxeador",
        r"(?i)\b(?:jubilad[oa]|pensionista|dependientas?|(?:monitora?|jugadora?|entrenadora?) de [\p{L}]{4,12}"
        r"|profesional de enfermer[íi]a|ex[- ]?(?:minero|profesora?|militar|futbolista|policía"
        r"|boxeador)[a-z]*)\b(?: de (?:la )?[\p{L}]{5,20})?",
    ),
    *_make_rules(
        "PROFESSION",
        WORDS,
        r"(?i)\b(?:licenciad[oa]|graduad[oa]|diplomad[oa]|doctorad[oa]) en \K[\p{L}]{4,20}(?: [\p{L}]{5,14})?",
    ),
    *_make_rules(
        "NATIONALITY",
        WORDS,
        r"(?i)\b(?:raza|etnia|origen [ée]tnico) \K[\p{L}]{4,15}",
    ),
    *_make_rules(
        "NATIONALITY",
        WORDS,
        r"(?i)\b(?:raza|etnia) (?:blanca|negra|gitana|cauc[áa]sica|[áa]rabe|asi[áa]tica|negroide|mestiza"
        r"|india)\b",
    ),
    *_make_rules(
        "NATIONALITY",
        WORDS,
        r"(?i)\b(?:cauc[áa]sic[oa]s?|afroamerican[oa]s?|gitan[oa]s?|mestiz[oa]s?|mulat[oa]s?"
        r"|latinoamerican[oa]s?|hispan[oa]s?|caribeñ[oa]s?|magreb[íi](?:es)?)\b",
    ),
    *_make_rules(
        "NATIONALITY",
        WORDS,
        r"(?i)\b(?:nacionalidad|ciudadan[íi]a) \K[\p{L}]{4,14}",
    ),
    *_make_rules(
        "NATIONALITY",
        WORDS,
        r"(?i)\b(?:varón|mujer|paciente|hombre|niñ[oa]|masculino|femenino) (?:negr[oa]|blanc[oa]|moren[oa])\b",
    ),
    *_make_rules(
        "NATIONALITY",
        WORDS,
        r"(?i)\borigen español[a]?\b",
    ),
    *_make_rules(
        "LOCATION",
        "natural procedente originario originaria oriundo oriunda vecino vecina residente reside residen "
        "resident vive viven vivía vivían vivia vivian viviendo nacido nacida nació nacio emigró emigro "
        "inmigrante proveniente viajó viajo viaje viajes viaja viajar viajé viajado estancia estancias "
        "trasladó traslado traslada trasladado trasladada trasladar trasladan trasladados domiciliado "
        "domiciliada",
        r"(?i)\b(?:natural|procedente|originari[oa]|oriund[oa]|vecin[oa]|residente|residen?|reside|viv[eí]a?n?"
        r"|viviendo|nacid[oa]|naci[óo]|emigr[óo]|inmigrante|proveniente|viaj[eóa]r?s?|viajado|estancias?"
        r"|traslad[óoa][a-z]{0,3}|domiciliad[oa])(?: (?:actualmente|recientemente|reciente))? (?:de|en|a|por"
        r"|desde|al|del)(?: (?:la|el|los|las|un|una|provincia|ciudad|pueblo|localidad|zona rural|regi[óo]n"
        r"|isla|del?|pa[íi]s))*+ \K(?-i:(?!(?:Urgencias|Atenci|UCI|Consulta|Hospital|Servicio|Primaria|Centro"
        r"|Unidad|Medicina|Cirug|Oncolog|Neurolog|[A-Z]{2,}\b))\p{Lu}[\p{L}'-]+(?: (?:de |la |del "
        r"|el )*\p{Lu}[\p{L}'-]+){0,3})",
    ),
    *_make_rules(
        "LOCATION",
        WORDS,
        r"(?i)\b(?:provincia|ciudad|localidad|municipio|comarca|pueblo|comunidad) de(?: la)? \K"
        r"(?-i:\p{Lu}[\p{L}'-]+(?: (?:de |la |del |el )*\p{Lu}[\p{L}'-]+){0,3})",
    ),
    *_make_rules(
        "LOCATION",
        [Digits(5, 5), WORDS],
        rf"(?<![\w.,-])(?:E-?|C\.?P\.? ?)?(?:0[1-9]|[1-4]\d|5[0-2])\d{{3}},?(?:[. -]{{1,3}})\K"
        rf"(?:{_TOWN}){{1,5}}(?:[ ,]{{0,2}}[(,] ?(?:{_TOWN}){{1,4}}\)?)?",
    ),
    *_make_rules(
        "ZIP",
        WORDS,
        r"(?<![\w.,/-])(?:E-?|C\.?P\.?:? ?)\K(?:0[1-9]|[1-4]\d|5[0-2])\d{3}(?![\w]|[.,]\d)",
    ),
    *_make_rules(
        "ZIP",
        WORDS,
        r"(?i)\b(?:c\.? ?p\.?|c[óo]digo postal|cod\. ?postal|apartado(?: de correos)?|apdo\.?)[: ]{1,3}"
        r"(?:n[ºo°]\.? ?)?\K[A-Z]?-?\d[\d -]{1,8}\d\b",
    ),
    *_make_rules(
        "ZIP",
        Digits(5, 5),
        r"(?<![\w.,/-])(?:0[1-9]|[1-4]\d|5[0-2])\d{3}(?=[,. -]{1,3}\p{Lu}\p{L})(?! (?:UI|U|UFC|Hz|Gy|C\b|K\b))",
    ),
    *_make_rules(
        "ZIP",
        Digits(5, 5),
        r"(?<=\p{Lu}\p{Ll}{2,20}[ ,.-]{1,3})(?:0[1-9]|[1-4]\d|5[0-2])\d{3}(?=[.,]?(?:\s|$|\())(?! ?(?:mg|ml|UI"
        r"|U/|/|c[ée]l|leuc|plaq|x|%|µ|mm))",
    ),
    *_make_rules(
        "ZIP",
        Digits(5, 5, "-"),
        r"(?<![\w.,/-])\d{5}-\d{3}(?![\w-])",
    ),
    *_make_rules(
        "ADDRESS",
        WORDS,
        rf"(?<![\p{{L}}\d]){_STREET} ?(?:(?:{_LINK}|[Dd]r\.|[Dd]ra\.|[Pp]rof\.) ){{0,3}}[\"«“']?(?:\p{{Lu}}"
        rf"|\d{{1,3}}(?= ?(?:#|No|n[ºo])| de \p{{L}}))[\p{{L}}\p{{M}}.'´·\d-]*[\"»”']?(?:,? (?:(?:{_LINK}"
        rf"|-) ){{0,3}}(?:\p{{Lu}}[\p{{L}}\p{{M}}.'´·-]*|[IVX]+|l)(?![\p{{L}}])(?<!Tel\.|Tfno\.|Fax|E-mail"
        rf"|Email|Correo|España|Hospital)){{0,6}}{_DOOR}?",
    ),
    *_make_rules(
        "ADDRESS",
        WORDS,
        rf"(?<![\p{{L}}\d]){_PROSE_STREET} (?:{_LINK} ){{0,3}}\p{{Lu}}[\p{{L}}\p{{M}}.'´·-]*(?:,? "
        rf"(?:{_LINK} ){{0,3}}\p{{Lu}}[\p{{L}}\p{{M}}.'´·-]*){{0,5}}{_DOOR}",
    ),
    *_make_rules(
        "ADDRESS",
        "calle avenida avd avda plaza paseo c",
        rf"(?i)\b(?:calle|avenida|avda?\.?|plaza|paseo|c/) ?(?:(?:del?|las?|los|el) ){{0,3}}[\p{{L}}]{{3,20}}"
        rf"(?: [\p{{L}}]{{2,20}}){{0,3}}?(?-i:{_DOOR})",
    ),
    *_make_rules(
        "ADDRESS",
        Digits(5, 5),
        rf"(?<=(?<![\p{{L}}\d'´-])(?P<since>{STOP}\p{{Lu}}[\p{{L}}\p{{M}}'´-]{{1,40}}(?: "
        rf"(?:{_LINK} ){{0,2}}{STOP}\p{{Lu}}[\p{{L}}\p{{M}}'´-]{{1,40}}){{0,5}}{_DOOR})[ .,-]{{1,4}}(?:E-?"
        rf"|C\.?P\.? ?)?)(?:0[1-9]|[1-4]\d|5[0-2])\d{{3}}\b",
    ),
    *_make_rules(
        "ADDRESS",
        WORDS,
        rf"(?<=(?<![\p{{L}}\d'´-])(?P<since>{STOP}\p{{Lu}}[\p{{L}}\p{{M}}'´-]{{1,40}}(?: "
        rf"(?:{_LINK} ){{0,2}}{STOP}\p{{Lu}}[\p{{L}}\p{{M}}'´-]{{1,40}}){{0,5}}),? )s ?/ ?n\b",
    ),
    *_make_rules(
        "ADDRESS",
        WORDS,
        r"(?i)\b(?:apartado de correos|apdo\.?(?: de correos)?) (?:n[ºo°]\.? ?)?\d{1,6}\b",
    ),
    *_make_rules(
        "PHONE",
        WORDS,
        r"(?i)\b(?:tel[ée]fonos?|telf?s?|te?l?fn?o?s?|tlf(?:no)?s?|tlfno|t[fl]|m[óo]vil|fax|busca|centralita"
        r"|citas previas(?: de hospital)?|ext(?:ensi[óo]n)?)\b\.?[ºo]?(?: (?:de contacto|m[óo]vil|fijo"
        r"|n[ºo°]))?[ :.;-]{0,4}\K[(+]{0,2}\d(?:[\d ().-]{2,16}\d)?(?: ?(?:ext\.?|extensi[óo]n) ?\d{1,6})?"
        r"(?: ?[-/,y] ?\+?\d[\d .-]{6,14}\d){0,3}",
    ),
    *_make_rules(
        "PHONE",
        [Digits(2, 10), Signs(("+", "("))],
        r"(?<![\w.,/+-])(?:\(?(?:\+|00)34\)?[ .-]?)?[6789](?:\d{8}|\d\d[ .-]\d{3}[ .-]\d{3}|\d\d"
        r"(?:[ .-]\d\d){3}|\d[ .-]\d{3}(?:[ .-]\d\d){2}|\d[ .-]\d{7}|\d{2}[ .-]\d{6})(?![\w]|[.,/-]\d)",
    ),
    *_make_rules(
        "PHONE",
        Signs(("+",)),
        r"(?<![\w.-])\+\d{1,3}[ .-]?\(?\d{1,4}\)?(?:[ .-]?\d{2,4}){2,4}(?![\w-])",
    ),
    *_make_rules(
        "PLAN",
        WORDS,
        r"(?i)\b(?:n\.?[au]\.?s\.?s\.?|cipa?|tsi|seguridad social|afiliaci[óo]n|tarjeta sanitaria|p[óo]liza)\b"
        r"(?: n[ºo°]\.?)?[ :.]{0,3}\K(?:nhc-?)?(?=[A-Z]{0,4}[ -]?\d)[A-Z]{0,4}[ -]?\d[\dA-Z /-]{3,20}\d",
    ),
    *_make_rules(
        "PLAN",
        Digits(2, 2),
        r"(?<![\w.,/-])\d\d[ /-]\d{7,10}(?:[ /-]\d\d)?(?![\w]|[.,/-]\d)",
    ),
    *_make_rules(
        "PLAN",
        CODE,
        r"\b[A-Z]{4}\d{6}[ -]?\d{6}\b",
    ),
    *_make_rules(
        "PLAN",
        Digits(6, 10),
        r"(?<=\b(?P<since>[A-Z]{4})[ -])\d{6}[ -]?\d{6}\b",
    ),
    *_make_rules(
        "MRN",
        WORDS,
        r"(?i)\b(?:n\.?h\.?c|nhc|historia(?: cl[íi]nica)?|h\.?c|n[ºo°] ?h[ªa]?\.?c?)\b\.?(?: (?:n[ºo°]"
        r"|n[úu]mero|num\.?))?[ :.#-]{0,4}\K(?=[A-Z/-]{0,6}\d\d[\d/-]{2})[A-Z\d][A-Z\d/-]{2,20}\b",
    ),
    *_make_rules(
        "ENCOUNTER",
        WORDS,
        r"(?i)\b(?:episodio|n[ºo°] ?(?:de )?(?:urgencia|ingreso|informe|muestra|biopsia|petici[óo]n|registro"
        r"|expediente)|biopsia n[ºo°]|informe n[ºo°]|expediente)[ :.]{1,3}\K(?=[A-Z/-]{0,4}\d{3}"
        r"|\d{1,3}[-/])[A-Z\d][A-Z\d/-]{2,20}\b",
    ),
    *_make_rules(
        "LICENSE",
        WORDS,
        r"(?i)\b(?:n[ºo°]?\.? ?col(?:egiad[oa])?|col(?:egiad[oa])?\.? ?(?:n[ºo°]|n[úu]m)|colegiad[oa]"
        r"(?: n[úu]mero)?|num\.? ?col)\b\.?[ :.]{0,3}\K\d[\d ./-]{2,16}\d",
    ),
    *_make_rules(
        "LICENSE",
        [Digits(8, 8), Digits(2, 2, "."), WORDS],
        r"(?i)(?<![\w.-])(?:\d{8}[ -]?[A-HJ-NP-TV-Z]|\d{2}\.\d{3}\.\d{3}[ -]?[A-HJ-NP-TV-Z]"
        r"|[XYZ][ -]?\d{7}[ -]?[A-HJ-NP-TV-Z])(?![\w-])",
    ),
    *_make_rules(
        "LICENSE",
        WORDS,
        r"(?i)\b(?:d\.?n\.?i|n\.?i\.?[ef]|pasaporte|c[ée]dula|rut|curp|cuil|cuit|documento)\b\.?(?: (?:n[ºo°]"
        r"|n[úu]mero|de identidad|de ciudadan[íi]a))*[ :.]{0,3}\K"
        r"(?=[A-Z]{0,4}[ .-]?\d)[A-Z\d][A-Z\d .-]{4,18}[A-Z\d]\b",
    ),
    *_make_rules(
        "LICENSE",
        CODE,
        r"\b[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z\d]\d\b",
    ),
    *_make_rules(
        "VEHICLE",
        Digits(4, 4),
        r"(?<![\w-])\d{4}[ -]?[BCDFGHJKLMNPRSTVWXYZ]{3}(?![\w-])(?<!\d{4}[ -]?(?:CRP|PCR|LDL|HDL|TSH|PTH|LDH"
        r"|VHC|VHB|GGT|GPT|PSA|LCR|BMP|RNM|RMN|TNF|DNT))",
    ),
    *_make_rules(
        "VEHICLE",
        WORDS,
        r"(?i)\b(?:matr[íi]cula|bastidor)[: ]{1,2}\K(?=[A-Z -]{0,5}\d)[A-Z\d][A-Z\d -]{3,18}[A-Z\d]\b",
    ),
    *_make_rules(
        "DEVICE",
        WORDS,
        r"(?i)\b(?:n[ºo°]\.? ?(?:de )?(?:serie|lote|referencia)|s/n|serial|lote|referencia)[ :.]{1,3}"
        r"(?:n[ºo°]\.? ?)?\K(?=[A-Z-]{0,6}\d{3})[A-Z\d][A-Z\d-]{3,20}\b",
    ),
    *_make_rules(
        "DEVICE",
        WORDS,
        r"(?i)\bmodelo \K(?=[\p{L}\d]{0,8} ?(?:n[ºo°]\.? ?)?\d)[\p{L}\d]{2,12}(?: "
        r"(?:n[ºo°]\.? ?)?\d[\d-]{2,10})?",
    ),
    *_make_rules(
        "FACILITY",
        WORDS,
        rf"(?<![\p{{L}}]){_FACILITY}",
    ),
    *_make_rules(
        "FACILITY",
        Signs(('"', "«", "“")),
        r"(?<=\b(?P<since>H[A-Z]{1,4}) )[\"«“]\p{Lu}[^\"»”\n]{2,40}[\"»”]",
    ),
    *_make_rules(
        "FACILITY",
        WORDS,
        r"(?i)\b(?:cama|habitaci[óo]n|box)(?: n[ºo°]\.?)?[: ]{1,2}\K(?=[A-Z-]{0,3}\d)[A-Z\d-]{1,7}\b",
    ),
    *_make_rules(
        "FACILITY",
        WORDS,
        r"(?i)\b(?:residencia de (?:ancianos|mayores|la tercera edad)|residencia geri[áa]trica"
        r"|hogar de ancianos|centro de menores|casa de acogida|centro penitenciario"
        r"|instituci[óo]n penitenciaria)\b",
    ),
    *_make_rules(
        "ORGANIZATION",
        Signs(("®", "™")),
        r"[®™][^()\n]{0,25}?[(,;] ?\K(?:(?:[Ll]ab(?:oratorio)?s?\.?) )?\p{Lu}[\p{L}&.-]{1,30}(?: (?:& |y |and "
        r"|de )?\p{Lu}[\p{L}&.-]{1,30}){0,4}(?=[,;)])",
    ),
    *_make_rules(
        "ORGANIZATION",
        WORDS,
        r"\b[Ll]aboratorios? \p{Lu}[\p{L}&.-]+(?: (?:& )?\p{Lu}[\p{L}&.-]+){0,2}",
    ),
    *_make_rules(
        "ORGANIZATION",
        WORDS,
        r"(?<=\b(?P<since>\p{Lu}[\p{L}&-]{1,30}(?: (?:& )?\p{Lu}[\p{L}&-]{1,30}){0,3}),? )(?:S\.? ?A\.?"
        r"(?: ?U\.?)?|S\.? ?L\.?(?: ?U\.?)?|GmbH|GMBH|Inc\.?|Ltd\.?|Corp\.?|LLC|AG)(?![\p{L}])",
    ),
    *_make_rules(
        "ORGANIZATION",
        WORDS,
        r"(?i)\b(?:juzgados?|comisar[íi]a|guardia civil|polic[íi]a (?:local|nacional))\b(?-i:(?: (?:de "
        r"|n[ºo°] ?)?(?:\p{Lu}[\p{L}]+|\d{1,2})){0,3})",
    ),
    *_make_rules(
        "EMAIL",
        Signs(("@",)),
        r"(?i)(?<=(?<![\w.+-])(?P<since>[\w.+-]{1,64}) ?)@ ?[\w-]{1,63}(?: ?\. ?[\w-]{2,63}"
        r"|\.[\w-]{1,63}){1,4}",
    ),
    *_make_rules(
        "EMAIL",
        WORDS,
        r"(?i)(?<=(?<![\w.+-])(?P<since>[\w.+-]{1,64})(?: ?[(\[]| ))(?:at[)\]]|arroba(?:\)| )) ?[\w-]{1,63}(?:"
        r"(?:\.| ?(?:\(punto\)|punto|\(dot\)) ?)[\w-]{2,63}){1,3}",
    ),
    *_make_rules(
        "URL",
        WORDS,
        r"(?i)\b(?:https?|ftps?)://[^\s<>\"'\])]{1,400}",
    ),
    *_make_rules(
        "URL",
        WORDS,
        r"(?i)\bwww\.[\w-]+(?:\.[\w-]+){1,5}(?:/[^\s<>\"'\])]{0,400})?",
    ),
    *_make_rules(
        "URL",
        WORDS,
        r"(?i)(?<=(?<![@\w.-])(?P<since>[a-z][\w-]{0,63}(?:\.[a-z][\w-]{0,63}){0,3})\.)(?:com|es|org|net|edu"
        r"|gob|cat|eus|gal|info)\b(?:/[^\s<>\"'\])]{0,400})?",
    ),
    *_make_rules(
        "IP",
        Digits(1, 3, "."),
        r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])",
    ),
    *_make_rules(
        "SSN",
        Digits(3, 3, "-"),
        r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])",
    ),
    *_make_rules(
        "ACCOUNT",
        CODE,
        r"(?i)\bES\d{2}(?:[ -]?\d{4}){5}\b",
    ),
    *_make_rules(
        "ACCOUNT",
        WORDS,
        r"(?i)\b(?:cuenta(?: (?:bancaria|corriente))?|factura|IBAN|tarjeta)(?: n[ºo°]\.?"
        r"| n[úu]mero)?[: ]{1,3}\K(?=[A-Z-]{0,4}\d{3})[A-Z\d][A-Z\d /-]{4,30}\d",
    ),
    *_make_rules(
        "ID",
        Digits(7, 10),
        r"(?<![\w.,-])\d{7,}(?![\w]|[.,]\d)",
    ),
    *_make_rules(
        "ID",
        Digits(4, 10),
        r"(?<=(?<![\w.#-])(?P<since>[A-Z]{1,6})-)\d{4,20}(?:-?[A-Z\d]{1,20}){0,8}\b",
    ),
    *_make_rules(
        "ID",
        Signs(("#",)),
        r"(?<![\w.#-])#\K[A-Z\d]{0,20}\d{3,20}[A-Z\d-]{0,20}\b",
    ),
    *_make_rules(
        "ID",
        LONG,
        r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
    ),
    *_make_rules(
        "ID",
        LONG,
        r"(?<![\w+/])[A-Za-z\d+/_-]{80,}={0,2}",
    ),
)
