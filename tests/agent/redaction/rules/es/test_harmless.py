"""Clinical Spanish that identifies nobody is little touched."""

import pytest

from agent.redaction.engine import Engine

HARMLESS = (
    "¿Cuál es el tratamiento de primera línea de la hipertensión arterial con diabetes tipo 2?",
    "Resuma la guía de la Sociedad Europea de Cardiología sobre fibrilación auricular y anticoagulación.",
    "Se inicia metformina 850 mg cada 12 horas y control en 3 meses.",
    "La escala de Glasgow fue de 15 puntos y el signo de Babinski negativo.",
    "¿Qué diferencias hay entre la enfermedad de Crohn y la colitis ulcerosa?",
    "Hemograma: Hb 12,3 g/dl, leucocitos 8.500/mm3, plaquetas 234.000/mm3. Creatinina 1,1 mg/dl.",
    "TC de abdomen sin contraste: litiasis de 6 mm en uréter distal derecho con ectasia leve.",
    "Paracetamol 1 g cada 8 horas si dolor; ibuprofeno 600 mg si precisa.",
    "La biopsia mostró un carcinoma ductal infiltrante grado II, RE+, RP+, HER2 negativo, Ki-67 del 15 %.",
    "Se coloca sonda de Foley y se realiza maniobra de Valsalva sin incidencias.",
    "Electrocardiograma: ritmo sinusal a 72 lpm, PR 160 ms, QRS estrecho, sin alteraciones de la repolarización.",
    "Tras 5 años de seguimiento no se observan recidivas.",
    "Dolor lumbar de 2 semanas de evolución que mejora con reposo.",
    "Se pautó Augmentine 875/125 mg cada 8 horas durante 7 días.",
    "Saturación de O2 del 94 % con gafas nasales a 2 lpm; FR 18 rpm.",
    "Interconsulta a Cirugía General y Digestivo por colecistitis aguda.",
    "El índice de Barthel era de 60 y la escala de Karnofsky del 70 %.",
    "¿Es seguro el uso de enalapril durante el embarazo?",
    "Cultivo positivo para Klebsiella pneumoniae productora de BLEE, sensible a meropenem.",
    "Resonancia magnética: hernia discal L4-L5 con compromiso radicular.",
    "Se realizó hemicolectomía derecha laparoscópica con anastomosis ileocólica mecánica.",
    "Los anticuerpos anti-TPO fueron positivos, compatible con tiroiditis de Hashimoto.",
    "Vacunación frente a neumococo, gripe y COVID-19 según calendario.",
    "La dosis de enoxaparina es de 1 mg/kg cada 12 horas; ajustar si FG < 30 ml/min.",
    "No presenta alergias medicamentosas conocidas ni antecedentes familiares de interés.",
    "Evolución favorable, afebril desde el tercer día; alta con cita en consultas externas.",
    "Radiografía de tórax: infiltrado en lóbulo inferior izquierdo con derrame pleural asociado.",
    "Test de Coombs directo negativo, haptoglobina 120 mg/dl, LDH 210 U/l.",
    "¿Cómo se interpreta un NT-proBNP de 1500 pg/ml en un contexto de disnea aguda?",
    "Explique la fisiopatología del síndrome de Guillain-Barré y su tratamiento con inmunoglobulinas.",
    "Lesión de Mallory-Weiss en la endoscopia; clasificación de Los Ángeles grado B.",
    "Presión intraocular de 16 mmHg en ambos ojos; agudeza visual 0,8 y 1,0.",
    "Se retira el drenaje de Blake al cuarto día y los puntos de Monocryl a los 10 días.",
    "Fondo de saco de Douglas libre; útero en anteversoflexión de 78 x 45 mm.",
    "Dieta hiposódica, control de peso y ejercicio diario de 30 minutos.",
    "Criterios de Duke mayores: hemocultivos positivos a Staphylococcus aureus.",
    "Genotipo 1b del virus de la hepatitis C con carga viral de 2.000.000 UI/ml.",
    "La anastomosis en Y de Roux se efectuó con sutura de Vicryl 3/0.",
    "El tumor medía 4 x 3 x 2 cm y pesaba 35 gramos; márgenes libres a 2 mm.",
    "¿Qué antibiótico cubre Pseudomonas aeruginosa en la neumonía nosocomial?",
    "Perfil lipídico: colesterol total 210, LDL 130, HDL 45, triglicéridos 180 mg/dl.",
    "Se suspende el Sintrom 3 días antes de la intervención y se inicia heparina de bajo peso molecular.",
    "Signo de Murphy positivo, Blumberg negativo, puñopercusión renal izquierda dolorosa.",
    "Clasificación TNM: pT3 N1 M0, estadio III. Se propone quimioterapia con esquema FOLFOX.",
    "Insulina Lantus 20 UI por la noche y Humalog según glucemia capilar.",
    "La Organización Mundial de la Salud recomienda lactancia exclusiva hasta los seis meses.",
    "Se objetivó bloqueo de rama derecha y hemibloqueo anterior izquierdo.",
    "Potenciales evocados normales. Electromiograma con denervación en L5.",
    "Reduzca la dosis de Prednisona 5 mg por semana hasta suspender.",
    "Fórmula leucocitaria: neutrófilos 77 %, linfocitos 15 %, monocitos 6 %.",
)
FINDINGS_AND_QUESTIONS = (
    "Se solicita hemograma, PCR, procalcitonina y dos hemocultivos antes de iniciar antibiótico.",
    "¿Qué dosis de amoxicilina-clavulánico se recomienda en la sinusitis bacteriana del adulto?",
    "Neumonía por Legionella pneumophila con antigenuria positiva; se inicia levofloxacino intravenoso.",
    "Trastorno límite de la personalidad en tratamiento con terapia dialéctica conductual.",
    "El ligamento cruzado anterior y el menisco interno conservan su señal normal.",
    "Ecocardiograma: FEVI del 55 %, insuficiencia mitral leve, sin derrame pericárdico.",
    "Se pauta apixabán 5 mg cada 12 horas y se suspende el acenocumarol.",
    "Urocultivo con más de 100.000 UFC/ml de Escherichia coli sensible a fosfomicina.",
    "La escala PHQ-9 puntúa 14, compatible con depresión moderada.",
    "Explíquele al paciente cómo usar el inhalador de polvo seco paso a paso.",
    "Fractura de Colles reducida en urgencias e inmovilizada con yeso antebraquial.",
    "Endoscopia: hernia de hiato de 3 cm y esofagitis grado A de Los Ángeles.",
    "Síndrome de Sjögren primario con anticuerpos anti-Ro y anti-La positivos.",
    "Resume las contraindicaciones absolutas de la trombólisis en el ictus isquémico.",
    "Bomba de insulina con infusión basal de 0,8 U/h y ratio de 1 U por 10 g de hidratos.",
    "Gasometría arterial: pH 7,31, pCO2 52 mmHg, pO2 61 mmHg, bicarbonato 26 mmol/l.",
    "Se administra adrenalina 0,5 mg intramuscular por sospecha de anafilaxia.",
    "El test de Lasègue es positivo a 40 grados en la pierna izquierda.",
    "Se indica resonancia de hipófisis por hiperprolactinemia persistente.",
    "Colonoscopia completa hasta ciego con preparación Boston 8 y sin pólipos.",
    "Tumor de Wilms estadio II con histología favorable, en protocolo de quimioterapia.",
    "Vancomicina en valle de 18 mcg/ml; mantener la misma pauta.",
    "Candida albicans en el exudado vaginal; fluconazol 150 mg en dosis única.",
    "Cefalea tensional sin signos de alarma; se recomienda higiene del sueño.",
    "Nódulo tiroideo TIRADS 3 de 12 mm en el lóbulo derecho; control ecográfico anual.",
    "Índice de masa corporal de 31 kg/m2 y perímetro abdominal de 104 cm.",
    "Exploración neurológica: pares craneales normales, Romberg negativo y marcha estable.",
    "El estudio CONSORT exige describir la aleatorización y el cegamiento.",
    "Alta con omeprazol 20 mg, paracetamol 1 g y dieta progresiva.",
    "Glucemia en ayunas de 126 mg/dl en dos determinaciones separadas.",
    "Cirugía de Whipple por adenocarcinoma de cabeza de páncreas resecable.",
    "Se retira la vía central y se envía la punta del catéter a cultivo.",
    "¿Cada cuánto hay que revisar la función tiroidea en un tratamiento con amiodarona?",
    "Hipopotasemia de 2,9 mEq/l corregida con cloruro potásico oral.",
    "El reflejo de Moro es simétrico y la fontanela anterior está normotensa.",
    "Prueba de Mantoux de 12 mm a las 72 horas; radiografía de tórax sin lesiones.",
    "Tratamiento erradicador de Helicobacter pylori con cuádruple terapia durante 14 días.",
    "Glaucoma de ángulo abierto en tratamiento con latanoprost nocturno.",
    "Ampolla de Vater de aspecto normal y colédoco de 5 mm.",
    "Mieloma múltiple IgG kappa con cadenas ligeras elevadas y anemia normocítica.",
    "El dolor irradia al brazo izquierdo y se acompaña de sudoración fría.",
    "Rituximab 375 mg/m2 semanal por cuatro dosis según protocolo del servicio.",
    "Espirometría con FEV1 del 62 % y cociente de 0,58; prueba broncodilatadora negativa.",
    "Injerto de vena safena a descendente anterior y mamaria a diagonal.",
    "Se palpa hepatomegalia de dos traveses bajo el reborde costal.",
    "Herpes zóster en dermatoma T6; valaciclovir 1 g cada ocho horas.",
    "La Asociación Americana de Diabetes recomienda una HbA1c inferior al 7 %.",
    "Enfermedad por arañazo de gato confirmada con serología para Bartonella henselae.",
    "Contaje de CD4 de 350 células y carga viral indetectable con dolutegravir.",
    "El cuestionario CAGE es positivo en tres de sus cuatro preguntas.",
    "Quiste de Baker en el hueco poplíteo sin signos de rotura.",
    "Lorazepam 1 mg sublingual si crisis de ansiedad, máximo tres comprimidos al día.",
    "Curas diarias con povidona yodada y apósito hidrocoloide.",
    "Sedimento: 20 leucocitos por campo, nitritos positivos y bacteriuria abundante.",
    "Se comenta en el Comité de Tumores y se decide braquiterapia adyuvante.",
    "Rx de cadera con osteofitos marginales y pinzamiento articular grado 3 de Kellgren.",
    "Ventilación mecánica con PEEP de 8 cmH2O y FiO2 del 40 %.",
    "Metástasis hepáticas en los segmentos VI y VII; se plantea ablación por radiofrecuencia.",
    "Coombs indirecto positivo por anticuerpos anti-Kell; se reserva sangre compatible.",
    "Ácido fólico 5 mg al día y hierro oral en ayunas con zumo de naranja.",
)
_MAX_TOUCHED = 5  # of the sentences
_MOST_OF_FINDINGS = 3  # of 60: one in twenty


@pytest.mark.full
def test_questions_and_findings_about_nobody_stay_as_they_are(spanish: Engine) -> None:
    touched = [text for text in HARMLESS if str(spanish.redact(text)) != text]

    assert len(touched) <= _MAX_TOUCHED, touched


def test_words_of_medicine_that_look_like_people_places_or_ages_stay(spanish: Engine) -> None:
    kept = (
        "silla turca",
        "tinta china",
        "tendón de Aquiles",
        "médico de familia",
        "antecedentes familiares",
        "células madre",
        "fenotipo masculino",
        "Sociedad Española de Cardiología",
        "enfermedad de Parkinson",
        "complejo QRS",
        "hace tres años",
        "5 años después",
        "dos años de evolución",
        "hospital de día",
        "vitamina D. Tras la ingesta",
    )
    for words in kept:
        text = f"Se describe lo siguiente: {words} sin otras alteraciones."
        assert words in str(spanish.redact(text)), words


@pytest.mark.full
def test_findings_with_germs_drugs_eponyms_and_scales_of_towns_stay_as_they_are(
    spanish: Engine,
) -> None:
    touched = [text for text in FINDINGS_AND_QUESTIONS if str(spanish.redact(text)) != text]

    assert len(touched) <= _MOST_OF_FINDINGS, touched


def test_a_person_beside_a_germ_a_drug_or_a_scale_is_still_gone(spanish: Engine) -> None:
    for text, name in (
        (
            "El test de Coombs de Eulalia Barrenechea fue positivo a Escherichia coli.",
            "Barrenechea",
        ),
        ("Candida albicans en el cultivo de Leocadio Urrestarazu.", "Urrestarazu"),
        ("La escala de Boston fue aplicada por la Dra. Zubimendi.", "Zubimendi"),
        ("Se pauta apixabán a Nicanor Goyeneche.", "Goyeneche"),
    ):
        assert name not in str(spanish.redact(text)), text
