"""A signature shows the department and nothing else."""

import pytest

from agent.redaction.engine import Engine

SIGNATURES = {
    "Urología": "Remitido por: Dra. Oihana Berrueta Sola. Servicio de Urología. Hospital Reyes Viejos. "
    "Olmedo, 7. 31008 Iruña",
    "E-mail": "Responsable clínico: Telmo Arizaga Servicio de Neurología "
    "Los Alisos, 10 13002 Valdeora E-mail: t@a.example",
    "Correo electrónico": "Remitido por: DR. Telmo Arizaga Lesaka Correo electrónico: t_a@a.example",
}


@pytest.mark.parametrize("kept", SIGNATURES)
def test_a_signature_shows_the_department_and_nothing_else(spanish: Engine, kept: str) -> None:
    shown = str(spanish.redact(SIGNATURES[kept]))

    assert kept in shown
    for word in (
        "Oihana",
        "Berrueta",
        "Reyes",
        "Olmedo",
        "31008",
        "Iruña",
        "Telmo",
        "Arizaga",
        "Lesaka",
        "Alisos",
        "13002",
        "Valdeora",
        "t@a",
        "t_a",
    ):
        assert word not in shown
