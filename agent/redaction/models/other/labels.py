"""Mapping of other models' labels to entities. Unknown labels are rejected, because they may mark a person."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import get_args

from agent.io.model_folder import ModelFolderError
from agent.redaction.entities import Entity

# Labels of OntoNotes, CoNLL 2003, i2b2 2014, MEDDOCAN and common de-identification models, in capitals.
_NAMED: dict[Entity, str] = {
    "NAME": (
        "PER PERSON NAME PATIENT PATIENT_NAME DOCTOR DOCTOR_NAME STAFF HCW USERNAME FIRSTNAME LASTNAME FIRST_NAME"
        " LAST_NAME FULL_NAME NOMBRE_SUJETO_ASISTENCIA NOMBRE_PERSONAL_SANITARIO"
    ),
    "LOCATION": "LOC LOCATION GPE CITY STATE COUNTRY COUNTY LOCATION_OTHER TERRITORIO PAIS",
    "FACILITY": "FAC FACILITY HOSP HOSPITAL WARD CENTRO_SALUD VENDOR",
    "ORGANIZATION": "ORG ORGANIZATION ORGANISATION COMPANY COMPANYNAME EMPLOYER PATORG INSTITUCION",
    "ADDRESS": "ADDRESS STREET STREET_ADDRESS CALLE",
    "ZIP": "ZIP ZIPCODE ZIP_CODE POSTCODE",
    "DATE": "DATE DATE_TIME DATE_OF_BIRTH DOB FECHAS",
    "AGE": "AGE EDAD_SUJETO_ASISTENCIA",
    "PHONE": "PHONE PHONE_NUMBER FAX FAX_NUMBER TELEPHONE NUMERO_TELEFONO NUMERO_FAX",
    "EMAIL": "EMAIL EMAIL_ADDRESS CORREO_ELECTRONICO",
    "SSN": "SSN US_SSN SOCIAL_SECURITY_NUMBER",
    "MRN": "MRN MEDICALRECORD MEDICAL_RECORD_NUMBER ID_SUJETO_ASISTENCIA",
    "ENCOUNTER": "ID_CONTACTO_ASISTENCIAL",
    "PLAN": "HEALTHPLAN HEALTH_PLAN_BENEFICIARY_NUMBER ID_ASEGURAMIENTO",
    "ACCOUNT": "ACCOUNT ACCOUNT_NUMBER CREDIT_CARD CREDIT_CARD_NUMBER IBAN IBAN_CODE",
    "LICENSE": "LICENSE US_DRIVER_LICENSE PASSPORT ID_TITULACION_PERSONAL_SANITARIO ID_EMPLEO_PERSONAL_SANITARIO",
    "VEHICLE": "VEHICLE LICENSE_PLATE VIN",
    "DEVICE": "DEVICE",
    "URL": "URL URL_WEB DOMAIN_NAME",
    "IP": "IP IP_ADDRESS IPADDRESS",
    "ID": "ID IDNUM BIOID OTHERPHI PHI OTROS_SUJETO_ASISTENCIA",
    "SEX": "SEX GENDER SEXO_SUJETO_ASISTENCIA",
    "FAMILY": "FAMILIARES_SUJETO_ASISTENCIA",
    "PROFESSION": "PROFESSION OCCUPATION JOB PROFESION",
    "NATIONALITY": "NORP NRP NATIONALITY",
}
_NO_IDENTIFIER = frozenset(
    "O CARDINAL ORDINAL QUANTITY PERCENT MONEY PRODUCT WORK_OF_ART LAW LANGUAGE EVENT MISC TIME".split()  # noqa: SIM905 (a row of names)
)
KNOWN: Mapping[str, str | None] = MappingProxyType(
    {label: entity for entity, labels in _NAMED.items() for label in labels.split()}
    | dict.fromkeys(_NO_IDENTIFIER, None)
)


def map_labels(labels: Iterable[str], explained: Mapping[str, str | None]) -> dict[str, str]:
    """Return the entity for each of a model's labels, except for those that do not identify a person.

    Args:
        labels: the model's labels, in any case, with or without a prefix "B-", "I-", "E-", "S-", "L-" or "U-".
        explained: the policy's own mapping, which takes precedence over the common schemes.

    Raises:
        ModelFolderError: a label is neither known nor mapped by the policy.
    """
    meanings = {label.upper(): entity for label, entity in explained.items()}
    wrong = {
        entity
        for entity in meanings.values()
        if entity is not None and entity not in get_args(Entity)
    }
    if wrong:
        raise ModelFolderError(f"labels: unknown entities: {', '.join(sorted(wrong))}")
    meanings = {**KNOWN, **meanings}
    entities: dict[str, str] = {}
    unknown: set[str] = set()
    for label in labels:
        plain = strip_prefix(label)
        if plain not in meanings:
            unknown.add(label)
            continue
        entity = meanings[plain]
        if entity:
            entities[label] = entity
    if unknown:
        raise ModelFolderError(
            f"the policy does not map the model's labels {', '.join(sorted(unknown))}"
        )
    if not entities:
        raise ModelFolderError("none of the model's labels denotes an identifier")
    return entities


def strip_prefix(label: str) -> str:
    """Return a label in upper case without the prefix of a tagging scheme."""
    label = label.upper()
    return label[2:] if label[:2] in ("B-", "I-", "E-", "S-", "L-", "U-") else label
