"""Codes H800 to H899: queries, patterns and formulas of related languages."""

from __future__ import annotations

from horai.lang.core.diagnostics import CodeInfo, Severity, table

_E = Severity.ERROR
_FIRST_OF_QUERIES = "H807"

RELATIVE_CODES = table(
    CodeInfo(
        "H800",
        "End of a statement missing",
        _E,
        "Queries end with `;`, patterns and formulas with a full stop.",
        "calm := not once alarm",
    ),
    CodeInfo(
        "H801",
        "Statement that cannot be read",
        _E,
        "The text is no statement of the language it is read as. The message says what could stand "
        "in this place.",
        "calm := once and alarm.",
    ),
    CodeInfo(
        "H802",
        "No translation",
        _E,
        "The language has this, and LARS programs cannot say it. The hint names the nearest thing "
        "that can be said, if there is one.",
        "calm := eventually quiet.",
    ),
    CodeInfo(
        "H803",
        "Bounds that contain nothing",
        _E,
        "Bounds are whole numbers of time points, the smaller one first; the second may be `inf`.",
        "calm := once[5, 2] quiet.",
    ),
    CodeInfo(
        "H804",
        "Name with two meanings",
        _E,
        "A name is defined once.",
        "calm := once quiet. calm := once silent.",
    ),
    CodeInfo(
        "H805",
        "Definition that needs itself",
        _E,
        "A definition stands for its formula or its query, so it cannot contain itself.",
        "calm := quiet and previous calm.",
    ),
    CodeInfo(
        "H806",
        "Variable without a value",
        _E,
        "Every variable occurs in an event of the pattern, outside of `NOT`; formulas of temporal "
        "logic have no variables at all.",
        "calm := once quiet(X).",
    ),
    CodeInfo(
        "H807",
        "Unknown stream, table or column",
        _E,
        "Streams and tables are declared before they are used: `CREATE STREAM tram (id, stop);`. A "
        "column of several sources is written with the source, as in `tram.id`.",
        "SELECT id FROM tram [RANGE 5];",
    ),
    CodeInfo(
        "H808",
        "Wrong number of columns",
        _E,
        "Rows have a value for each column of their table. Queries that are combined have the same "
        "number of columns, and a query after `IN` has one.",
        "CREATE TABLE line (id, name); INSERT INTO line VALUES ('a1');",
    ),
    CodeInfo(
        "H809",
        "Window missing or misplaced",
        _E,
        "A stream becomes a relation by a window. Tables and views are relations already.",
        "CREATE STREAM tram (id, stop); SELECT id FROM tram;",
    ),
    CodeInfo(
        "H810",
        "Column that is neither grouped nor aggregated",
        _E,
        "A query with `GROUP BY` or an aggregate has one row for each group: other columns have no "
        "single value in it.",
        "CREATE STREAM tram (id, stop); SELECT id, COUNT(*) FROM tram [NOW];",
    ),
)


def example_language(code: str) -> str:
    """The language that the example of a code is written in."""
    return "cql" if code >= _FIRST_OF_QUERIES else "ltl"
