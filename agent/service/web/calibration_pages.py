"""The pages on which a data scientist makes a calibration for clinicians, and deletes one."""

from starlette.responses import Response

from agent.calibration.make_calibration import (
    CalibrationSampling,
    delete_calibration,
    list_gradable,
    make_calibration,
    require_calibration,
)
from agent.errors import AgentError, ConfigError
from agent.service.web.call import Call
from agent.service.web.numbers import read_whole_number
from agent.service.web.service import Desk
from agent.store import PUBLIC

_FIELDS = {"name": "", "items": "60", "raters": "2", "seed": "", "of": "", "with_reference": ""}
MOST_ITEMS = 1_000
MOST_RATERS = 50


def show_form(desk: Desk, call: Call) -> Response:
    """Show the form for a new calibration."""
    return _draw_form(desk, call)


def make(desk: Desk, call: Call) -> Response:
    """Choose the answers of a new calibration and store which they are. No file is written."""
    try:
        wanted = _read_wish(call)
        # Clinicians see the answers, so none is taken from a run that its owner keeps from others.
        site = desk.service.site.serve(PUBLIC)
        make_calibration(site, wanted, None, call.signed_in.account.account_id)
    except AgentError as error:
        return _draw_form(desk, call, f"{error}. {error.advice}")
    words = f"The answers of calibration {wanted.name} are chosen."
    return desk.confirm(call, f"/rating/of/{wanted.name}", words)


def _draw_form(desk: Desk, call: Call, problem: str = "") -> Response:
    values = {name: call.get(name, value) for name, value in _FIELDS.items()}
    return desk.draw(
        "new_calibration.html",
        call,
        400 if problem else 200,
        offered=list_gradable(desk.serve(PUBLIC).store),
        values=values,
        problem=problem,
    )


def _read_wish(call: Call) -> CalibrationSampling:
    suite, _, benchmark = call.require("of", "The benchmark").rpartition("/")
    seed = call.get("seed").strip()
    return CalibrationSampling(
        name=call.require("name", "The name"),
        suite=suite,
        benchmark=benchmark,
        items=read_whole_number(call.get("items"), "the number of answers", 2, MOST_ITEMS),
        raters=read_whole_number(call.get("raters"), "the number of clinicians", 1, MOST_RATERS),
        seed=read_whole_number(seed, "the seed", 0, 2**63) if seed else None,
        with_reference=bool(call.get("with_reference")),
    )


def ask_to_delete(desk: Desk, call: Call) -> Response:
    """Show what would be deleted with a calibration."""
    calibration = require_calibration(desk.store, call.path["name"])
    raters = desk.store.calibrations.read_raters(calibration.name)
    return desk.draw("calibration_delete.html", call, calibration=calibration, raters=len(raters))


def delete(desk: Desk, call: Call) -> Response:
    """Delete a calibration with all grades."""
    calibration = require_calibration(desk.store, call.path["name"])
    if call.get("confirmed") != "yes":
        raise ConfigError("the deletion was not confirmed", "Tick the box and send the form again.")
    delete_calibration(desk.store, calibration.name, call.signed_in.account.account_id)
    words = f"Calibration {calibration.name} is deleted with its grades."
    return desk.confirm(call, "/rating", words)
