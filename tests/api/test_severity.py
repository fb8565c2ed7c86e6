"""How bad a finding is can be chosen, where rules keep a meaning."""

from __future__ import annotations

import pytest

import horai
from horai.errors import UsageError
from horai.lang.core.diagnostics import RulesError, all_codes
from horai.tools.codes import lenient

CODES = [c for c in all_codes() if "H2" <= c < "H6" and not "H55" <= c < "H56"]  # of checks
UNKNOWN = all_codes()["H203"].example


@pytest.mark.parametrize("code", sorted(lenient().keys() & set(CODES)))
@pytest.mark.parametrize("level", ["warning", "off"])
def test_rules_with_an_error_that_was_lowered_run_the_same_on_every_engine(
    code: str, level: str
) -> None:
    rules = horai.loads(all_codes()[code].example, severity={code: level})
    assert [w.code for w in rules.warnings if w.code == code] == [code] * (level == "warning")
    rows = ["win_lottery|1|1|chris", "payday|2|2|chris", "lose_wallet|3|3|chris"]
    found = [rules.run(rows, engine=engine).rows() for engine in ("compiled", "reference")]
    assert found[0] == found[1]


@pytest.mark.parametrize("code", sorted(set(CODES)))
def test_a_warning_can_be_an_error_and_can_be_turned_off(code: str) -> None:
    example = all_codes()[code].example
    if all_codes()[code].severity == "error":
        with pytest.raises(RulesError) as raised:
            horai.loads(example)
    else:
        with pytest.raises(RulesError) as raised:
            horai.loads(example, severity={code: "error"})
        assert code not in [w.code for w in horai.loads(example, severity={code: "off"}).warnings]
    assert code in [d.code for d in raised.value.diagnostics if d.severity == "error"]


@pytest.mark.parametrize("code", sorted(set(all_codes()) - set(lenient())))
def test_errors_without_which_rules_have_no_meaning_stay(code: str) -> None:
    if all_codes()[code].severity == "error":
        with pytest.raises(UsageError, match=f"{code} is always an error"):
            horai.loads("", severity={code: "warning"})
    else:
        horai.loads("", severity={code: "off"})


@pytest.mark.parametrize(
    ("given", "said"),
    [({"H999": "off"}, "no code H999"), ({"H206": "fatal"}, "H206 cannot be 'fatal'")],
)
def test_wrong_choices_are_told(given: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        horai.loads("", severity=given)


def test_a_session_goes_on_with_rules_that_were_let_pass() -> None:
    rules = horai.loads(UNKNOWN, severity={"H203": "warning"})
    session = rules.session(start=0)
    session.advance(5, ["win_lottery|1|1|chris"])
    horai.load_session(session.save()).advance(10)
