"""Reading definitions of temporal logic: text in; formulas and all that is wrong out."""

from __future__ import annotations

from horai.lang.depth import DEEPEST
from horai.lang.diagnostics import Diagnostic, sort_key
from horai.lang.ltl.grammar import Formulas, Parsed
from horai.lang.ltl.syntax import Definition, Formula, Proposition, parts, with_parts
from horai.lang.relative_codes import RELATIVE_CODES
from horai.lang.report import Report
from horai.lang.source import Source
from horai.lang.statements import SIGNS, Language, statements

_FORMULA = "a formula"
LANGUAGE = Language(
    "horai.lang.ltl",
    "ltl.lark",
    Formulas,
    {
        **dict.fromkeys(("NAME", "TRUE", "FALSE", "NOT", "PREVIOUS"), _FORMULA),
        **dict.fromkeys(("ONCE", "HISTORICALLY", "FUTURE"), _FORMULA),
        **dict.fromkeys(("FUTURE_PAIR", "SINCE", "AND", "OR", "ARROW", "IFF"), "an operator"),
        **dict.fromkeys(("INT", "DECIMAL", "INF"), "a number"),
        **dict.fromkeys(("VAR", "STRING"), "a constant"),
        **SIGNS,
    },
    ".",
)


def read_source(source: Source) -> tuple[list[Definition], list[Diagnostic]]:
    """The definitions of a text, each with the others put in the places of their names.

    >>> found, findings = read_source(Source("f", "calm := not once alarm."))
    >>> found[0].name, findings
    ('calm', [])
    """
    report = Report(RELATIVE_CODES)
    found: dict[str, Parsed] = {}
    for parsed in statements(LANGUAGE, source, report):
        for wrong in parsed.wrongs:
            report.add(wrong.code, wrong.message, source, wrong.span, wrong.hint)
        if parsed.name in found:
            hint = "choose another name"
            message = f"`{parsed.name}` is defined already"
            report.add("H804", message, source, parsed.span, hint)
        elif _depth(parsed.formula) > DEEPEST:
            hint = "name the parts in definitions of their own"
            report.add("H801", "this formula is nested too deeply", source, parsed.span, hint)
        else:
            found[parsed.name] = parsed
    definitions = [
        Definition(name, formula, parsed.span, source)
        for name, parsed in found.items()
        if (formula := _written_out(parsed, found, source, report)) is not None
    ]
    return definitions, sorted(report.findings, key=sort_key)


def _written_out(
    wanted: Parsed, known: dict[str, Parsed], source: Source, report: Report
) -> Formula | None:
    """The formula without names of other definitions; None if it needs itself."""

    def expand(formula: Formula, above: tuple[str, ...]) -> Formula | None:
        if isinstance(formula, Proposition) and not formula.args and formula.name in known:
            if formula.name in above:
                if formula.name == wanted.name:
                    message = f"`{wanted.name}` needs itself"
                    hint = "say it with `since`, `once` or `historically`"
                    report.add("H805", message, source, wanted.span, hint)
                return None
            return expand(known[formula.name].formula, (*above, formula.name))
        inner = [expand(part, above) for part in parts(formula)]
        if any(part is None for part in inner):
            return None
        return with_parts(formula, [part for part in inner if part is not None])

    return expand(wanted.formula, (wanted.name,))


def _depth(formula: Formula) -> int:
    level, depth = [formula], 0
    while level:
        level = [part for outer in level for part in parts(outer)]
        depth += 1
    return depth
