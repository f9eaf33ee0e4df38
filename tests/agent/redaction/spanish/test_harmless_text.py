"""Clinical Spanish that identifies nobody is little touched."""

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
_MOST_TOUCHED = 5  # of the sentences


def test_questions_and_findings_about_nobody_stay_as_they_are(spanish: Engine) -> None:
    touched = [text for text in HARMLESS if str(spanish.redact(text)) != text]

    assert len(touched) <= _MOST_TOUCHED, touched


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
