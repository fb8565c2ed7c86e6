"""The codes of all findings and of rows that were not used, and the severity people choose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from horai.errors import UsageError
from horai.lang.core.diagnostics import Diagnostic, Severity, all_codes, did_you_mean


def letter_codes() -> dict[str, str]:
    """The meanings of the codes of dead letters."""
    from horai.io import CODES as ROWS
    from horai.signals.positions import CODES as POSITIONS

    return ROWS | POSITIONS


Severities = Mapping[str, str]
"""Codes, and `error`, `warning` or `off` for each."""

LEVELS = ("error", "warning", "off")
OFF = "off"


def lenient() -> Severities:
    """For rules that somebody has let pass before: errors that need not be are warnings.

    What they speak of has a meaning, it never holds.
    """
    return {code: "warning" for code, info in all_codes().items() if info.may_be_lowered}


def checked_severities(given: Severities | None) -> dict[str, str]:
    """The same, with codes in capitals, or a kind error.

    >>> checked_severities({"h309": "of"})
    Traceback (most recent call last):
    ...
    horai.errors.UsageError: H309 cannot be 'of'
      hint: did you mean off?
    """
    if not given:
        return {}
    found, codes = {}, all_codes()
    for written, level in given.items():
        code = str(written).upper()
        if code not in codes:
            near = did_you_mean(code, codes)
            hint = f"did you mean {near}?" if near else "`horai rule` lists all codes"
            raise UsageError(f"there is no code {written}", hint)
        if level not in LEVELS:
            near = did_you_mean(str(level), LEVELS)
            hint = f"did you mean {near}?" if near else f"it is one of {', '.join(LEVELS)}"
            raise UsageError(f"{code} cannot be {level!r}", hint)
        info = codes[code]
        if info.severity is Severity.ERROR and level != "error" and not info.may_be_lowered:
            hint = f"the rules have no meaning with it; `horai rule {code}` says how to mend it"
            raise UsageError(f"{code} is always an error", hint)
        found[code] = level
    return found


def judged(findings: Iterable[Diagnostic], severities: Severities) -> list[Diagnostic]:
    """The findings with the severity that was chosen for them, without those that are off."""
    return [
        replace(finding, severity=Severity(severities[finding.code]))
        if finding.code in severities
        else finding
        for finding in findings
        if severities.get(finding.code) != OFF
    ]
