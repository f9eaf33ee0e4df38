"""Calibration of a jury: blinded samples for clinicians, and the agreement of their grades with the jury's."""
