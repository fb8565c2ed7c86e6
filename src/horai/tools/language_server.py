"""The language server: what editors ask about rules, by the Language Server Protocol.

A file belongs to the project whose `horai.toml` names it, with all rules and background of that
project; any other file stands for itself. Nothing that is edited is executed.

Where names and variables stand is found in tokens, clause by clause, so that what stands in a
clause with a mistake is found as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from lark import Token
from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from horai.errors import UsageError
from horai.lang.core.diagnostics import Diagnostic, Severity, has_errors
from horai.lang.core.printer import is_plain_word, quote, show, unquote
from horai.lang.core.terms import parameter_count
from horai.lang.ec.builtins import BODY_LITERALS, BUILTINS, FLUENT_HEADS, RESERVED_HEADS
from horai.lang.layout import SCANNERS, Language, formatted
from horai.plan.ec.entities import Entity, find_entities
from horai.plan.ec.modes import PythonPredicate
from horai.plan.ec.outline import Json, outline
from horai.plan.pipeline import compile_program
from horai.predicates import Predicate, outlined
from horai.rules import SUFFIX, examined
from horai.tools.project import Project, find_project

Key = tuple[str, int | None]
"""Name and number of arguments; None for a variable."""
_OPENERS, _CLOSERS = ("LPAR", "LSQB", "LBRACE"), ("RPAR", "RSQB", "RBRACE")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name or a variable at a place; `defines` where the clause says when it holds."""

    key: Key
    start: int
    end: int
    clause: int
    defines: bool = False

    @property
    def is_variable(self) -> bool:
        """A variable means something in its clause only."""
        return self.key[1] is None


def symbols(text: str, language: Literal["ec", "lars"] = "ec") -> list[Symbol]:
    """The names and variables of a text, in their order.

    >>> [one.key for one in symbols("rich(X) :- wins(X, lottery).") if one.defines]
    [('rich', 1)]
    """
    scanner = SCANNERS[language]
    found: list[Symbol] = []
    at, clause = scanner.skip(text, 0), 0
    while at < len(text):
        tokens, end = scanner.clause(text, at)
        defined = _defined(tokens, language)
        found += [
            Symbol(key, token.start_pos or 0, token.end_pos or 0, clause, place in defined)
            for place, token in enumerate(tokens)
            if (key := _key(tokens, place)) is not None
        ]
        at, clause = scanner.skip(text, end), clause + 1
    return found


def _key(tokens: list[Token], place: int) -> Key | None:
    token = tokens[place]
    name = unquote(token.value) if token.value.startswith("'") else str(token.value)
    match token.type:
        case "VAR":
            return None if name.startswith("_#") else (name, None)
        case "NAME":
            return (name, 0)
        case "FUNCTOR":
            return (name, _arguments(tokens, place + 1))
        case _:
            return None


def _arguments(tokens: list[Token], at: int) -> int:
    """How many arguments there are between the brackets that open at a place."""
    depth, commas = 0, 0
    for token in tokens[at:]:
        depth += (token.type in _OPENERS) - (token.type in _CLOSERS)
        if depth == 0:
            break
        commas += depth == 1 and token.type == "COMMA"
    return commas + 1


def _defined(tokens: list[Token], language: str) -> set[int]:
    """The places of what a clause defines."""
    kinds = [token.type for token in tokens]
    neck = kinds.index("NECK") if "NECK" in kinds else len(kinds)
    if language == "lars":
        return _of_program(kinds[:neck])
    if neck == 0 or kinds[0] not in ("NAME", "FUNCTOR"):
        return set()
    head = tokens[0].value
    if head in FLUENT_HEADS:
        # `fi(F=V, F2=V2, R)` is about its second argument.
        begin = _next_argument(kinds, 2) if head == "fi" else 2
        is_rule = neck < len(kinds) or head in ("initially", "fi", "ft")
        return {begin} if is_rule and kinds[begin : begin + 1] in (["NAME"], ["FUNCTOR"]) else set()
    return set() if head in RESERVED_HEADS else {0}


def _next_argument(kinds: list[str], at: int) -> int:
    depth = 1
    for place in range(at, len(kinds)):
        depth += (kinds[place] in _OPENERS) - (kinds[place] in _CLOSERS)
        if depth == 1 and kinds[place] == "COMMA":
            return place + 1
    return len(kinds)


def _of_program(head: list[str]) -> set[int]:
    """The atoms of the head of a LARS rule, alternatives and choices among them."""
    found: set[int] = set()
    open_at: list[str] = []
    condition = False  # after the colon of an element of a choice
    for place, kind in enumerate(head):
        if kind in _OPENERS:
            open_at.append(kind)
        elif kind in _CLOSERS and open_at:
            open_at.pop()
        elif kind in ("COLON", "SEMI"):
            condition = kind == "COLON"
        elif kind in ("NAME", "FUNCTOR") and not condition and open_at in ([], ["LBRACE"]):
            found.add(place)
    return found


DELAY = 0.3
"""Seconds without a key before rules are checked: nobody reads findings while typing."""
_LEVELS = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
}


def language_of(path: Path) -> Language:
    """The language of a file, by its name."""
    return "lars" if path.suffix.lower() == SUFFIX else "ec"


@dataclass
class Checked:
    """Files that are read together, and what is known of them."""

    rules: list[Path]
    background: list[Path]
    unsaved: dict[Path, str]
    project: Project | None = None
    predicates: dict[str, Predicate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        project = self.project
        settings = {} if project is None else project.run
        if project is not None and project.predicates is not None:
            self.predicates = outlined(project.predicates)
        timed = settings.get("clock"), settings.get("unit")
        severity = {} if project is None else project.severity
        files = self.rules, self.background, self.predicates, severity
        found = examined(*files, timed, self.unsaved)
        self.findings = found.findings
        self.description, self.program = found.rules.description, found.rules.program

    @property
    def files(self) -> list[Path]:
        """All files, those that are loaded by others included."""
        loaded = [Path(one.name) for one in (*self.description.sources, *self.program.sources)]
        named = [*self.rules, *self.background, *loaded]
        return list(dict.fromkeys(path.resolve() for path in named))

    @cached_property
    def entities(self) -> dict[Key, Entity]:
        """Events and fluents by name and number of arguments."""
        found = find_entities(self.description)
        return {one.key: one for one in (*found.events.values(), *found.fluents.values())}

    @cached_property
    def components(self) -> list[Json]:
        """How the rules are worked out; nothing where they have errors."""
        if has_errors(self.findings) or not self.description.rules:
            return []
        given = [PythonPredicate(n, parameter_count(one)) for n, one in self.predicates.items()]
        found: list[Json] = outline(compile_program(self.description, given))["components"]
        return found


class HoraiServer(LanguageServer):
    """The server, with what it has found out about the files that are open."""

    def __init__(self) -> None:
        super().__init__("horai", version("horai"))
        self.known: dict[Path, Checked] = {}
        self.waiting: dict[str, asyncio.Task[None]] = {}

    def document(self, path: Path) -> TextDocument:
        """A file as it is edited, or else as it is on the disk."""
        return self.workspace.get_text_document(path.resolve().as_uri())

    def checked(self, path: Path) -> Checked:
        """What is known of a file and those it is read with, as they are now."""
        project = _project_of(path)
        rules = [path] if project is None else project.rules
        background = [] if project is None else project.background
        unsaved = {
            Path(place): document.source
            for uri, document in self.workspace.text_documents.items()
            if (place := to_fs_path(uri)) is not None
        }
        first = rules[0].resolve()
        before = self.known.get(first)
        if before is None or before.unsaved != unsaved or before.project != project:
            self.known[first] = Checked(rules, background, unsaved, project)
        return self.known[first]

    def symbols_of(self, path: Path) -> list[Symbol]:
        """The names in a file."""
        return symbols(self.document(path).source, language_of(path))

    def everywhere(self, path: Path, symbol: Symbol) -> Iterator[tuple[Path, Symbol]]:
        """All places of a symbol in the files that are read together."""
        if symbol.is_variable:
            for one in self.symbols_of(path):
                if (one.key, one.clause) == (symbol.key, symbol.clause):
                    yield path, one
            return
        for file in dict.fromkeys([path.resolve(), *self.checked(path).files]):
            for one in self.symbols_of(file) if file.is_file() else ():
                if one.key == symbol.key:
                    yield file, one

    def place(self, path: Path, symbol: Symbol) -> types.Location:
        """Where a symbol is, as editors count."""
        document = self.document(path)
        ends = (symbol.start, symbol.end)
        return types.Location(
            document.uri, types.Range(*map(document.client_position_at_offset, ends))
        )

    # --- findings --------------------------------------------------------------------------------

    def publish(self, path: Path) -> None:
        """Send the findings of all files that are read with one."""
        try:
            checked = self.checked(path)
        except UsageError as wrong:  # of the project file, or of its Python file
            self.window_log_message(
                types.LogMessageParams(types.MessageType.Error, f"{wrong.problem}: {wrong.hint}")
            )
            return
        found: dict[Path, list[types.Diagnostic]] = {file: [] for file in checked.files}
        for one in checked.findings:
            if one.source is not None:
                file = Path(one.source.name).resolve()
                found.setdefault(file, []).append(self.shown(file, one))
        for file, some in found.items():
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(self.document(file).uri, some)
            )

    def shown(self, file: Path, finding: Diagnostic) -> types.Diagnostic:
        """A finding as editors show it; line ends of the text may be longer on the disk."""
        lines = self.document(file).lines
        assert finding.source is not None
        first, last = finding.span or (0, 0)
        ends = []
        for offset in (first, last):
            line, column = finding.source.position(offset)
            text = lines[line - 1] if line <= len(lines) else ""
            units = self.workspace.position_codec.client_num_units(text[: column - 1])
            ends.append(types.Position(line - 1, units))
        more = [text for text in (finding.note, finding.hint and f"help: {finding.hint}") if text]
        return types.Diagnostic(
            types.Range(*ends),
            "\n".join([finding.message, *more]),
            severity=_LEVELS[finding.severity],
            code=finding.code,
            source="horai",
        )


def _project_of(path: Path) -> Project | None:
    """The project that names a file."""
    project = find_project(path.parent)
    if project is None:
        return None
    named = {one.resolve() for one in (*project.rules, *project.background)}
    return project if path.resolve() in named and project.rules else None


# --- help ----------------------------------------------------------------------------------------


def _help(server: HoraiServer, path: Path, symbol: Symbol) -> str | None:
    """What is known of a name: what it is, how it is worked out, what was written above it."""
    name, arity = symbol.key
    if arity is None:
        return None
    if language_of(path) == "ec" and (text := _of_language(name, arity)):
        return text
    checked = server.checked(path)
    lines = [f"**{name}/{arity}**"]
    entity = checked.entities.get(symbol.key)
    if entity is not None:
        lines += _of_entity(entity, checked.components)
    elif (facts := checked.description.facts.get((name, arity))) is not None:
        lines.append(f"background: {len(facts.rows):,} facts")
    elif name in checked.predicates:
        lines.append("a predicate written in Python")
    for file, one in server.everywhere(path, symbol):
        if one.defines and (comment := _above(server.document(file).source, one.start)):
            lines.append(comment)
            break
    return "\n\n".join(lines) if len(lines) > 1 else None


def _of_language(name: str, arity: int) -> str | None:
    builtin = BUILTINS.get((name, arity))
    if builtin is not None:
        return f"**{name}/{arity}**: {builtin.meaning}"
    if arity in FLUENT_HEADS.get(name, ()) or arity in BODY_LITERALS.get(name, ()):
        return f"**{name}/{arity}** belongs to the language: see the page on it"
    return None


def _of_entity(entity: Entity, components: list[Json]) -> Iterator[str]:
    """Kind, values, level, key and rules."""
    kind = ", ".join(sorted(entity.sorts))
    if entity.is_input:
        yield f"input {entity.kind}: it comes with the stream"
    else:
        yield f"{kind} fluent" if entity.kind == "fluent" else "event that rules derive"
    if entity.values:
        yield "values: " + ", ".join(sorted(map(show, entity.values)))
    mine = f"{entity.name}/{entity.arity}"
    for one in components:
        if mine not in one["entities"]:
            continue
        yield f"level {one['level']}{', in a cycle' if one['cyclic'] else ''}"
        key, reason = one["partition"]["key"], one["partition"]["reason"]
        yield f"partition key: {key}" if key else f"no partition key: {reason}"
        if count := sum(rule["defines"].startswith(mine) for rule in one["rules"]):
            yield f"rules: {count}"
        return


def _above(text: str, start: int) -> str:
    """The comment on the lines right above a clause."""
    lines = text[:start].split("\n")[:-1]
    found: list[str] = []
    while lines and lines[-1].lstrip().startswith("%"):
        found.append(lines.pop().strip().lstrip("% "))
    return "\n".join(reversed(found))


# --- what editors ask ----------------------------------------------------------------------------

SERVER = HoraiServer()


def _path(uri: str) -> Path:
    return Path(to_fs_path(uri) or uri)


def _at(uri: str, position: types.Position) -> tuple[Path, Symbol | None]:
    """The name at a place of a file."""
    path = _path(uri)
    offset = SERVER.document(path).offset_at_position(position)
    return path, next((s for s in SERVER.symbols_of(path) if s.start <= offset <= s.end), None)


@SERVER.feature(types.TEXT_DOCUMENT_DID_OPEN)
@SERVER.feature(types.TEXT_DOCUMENT_DID_SAVE)
def _opened(given: types.DidOpenTextDocumentParams | types.DidSaveTextDocumentParams) -> None:
    SERVER.publish(_path(given.text_document.uri))


@SERVER.feature(types.TEXT_DOCUMENT_DID_CHANGE)
async def _changed(given: types.DidChangeTextDocumentParams) -> None:
    uri = given.text_document.uri
    if (before := SERVER.waiting.pop(uri, None)) is not None:
        before.cancel()

    async def later() -> None:
        await asyncio.sleep(DELAY)
        SERVER.publish(_path(uri))

    SERVER.waiting[uri] = asyncio.create_task(later())


@SERVER.feature(types.TEXT_DOCUMENT_DID_CLOSE)
def _closed(given: types.DidCloseTextDocumentParams) -> None:
    SERVER.text_document_publish_diagnostics(
        types.PublishDiagnosticsParams(given.text_document.uri, [])
    )


@SERVER.feature(types.TEXT_DOCUMENT_HOVER)
def _hover(given: types.HoverParams) -> types.Hover | None:
    path, symbol = _at(given.text_document.uri, given.position)
    text = None if symbol is None else _help(SERVER, path, symbol)
    if symbol is None or text is None:
        return None
    content = types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.Hover(content, SERVER.place(path, symbol).range)


@SERVER.feature(types.TEXT_DOCUMENT_DEFINITION)
def _definition(given: types.DefinitionParams) -> list[types.Location]:
    path, symbol = _at(given.text_document.uri, given.position)
    found = [] if symbol is None else list(SERVER.everywhere(path, symbol))
    if symbol is not None and symbol.is_variable:
        found = found[:1]
    else:
        found = [one for one in found if one[1].defines]
    return [SERVER.place(*one) for one in found]


@SERVER.feature(types.TEXT_DOCUMENT_REFERENCES)
def _references(given: types.ReferenceParams) -> list[types.Location]:
    path, symbol = _at(given.text_document.uri, given.position)
    found = [] if symbol is None else SERVER.everywhere(path, symbol)
    with_definition = given.context.include_declaration
    return [SERVER.place(*one) for one in found if with_definition or not one[1].defines]


@SERVER.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
def _outline(given: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    path = _path(given.text_document.uri)
    found: dict[Key, Symbol] = {}
    for one in SERVER.symbols_of(path):
        if one.defines:
            found.setdefault(one.key, one)
    return [
        types.DocumentSymbol(f"{name}/{arity}", types.SymbolKind.Function, place, place)
        for (name, arity), one in found.items()
        for place in [SERVER.place(path, one).range]
    ]


@SERVER.feature(types.TEXT_DOCUMENT_COMPLETION)
def _completion(given: types.CompletionParams) -> list[types.CompletionItem]:
    path = _path(given.text_document.uri)
    document = SERVER.document(path)
    offset = document.offset_at_position(given.position)
    here = SERVER.symbols_of(path)
    before = [one for one in here if one.start < offset]
    clause = before[-1].clause if before else 0
    known: dict[str, types.CompletionItem] = {}

    def offer(label: str, kind: types.CompletionItemKind, detail: str) -> None:
        known.setdefault(label, types.CompletionItem(label, kind=kind, detail=detail))

    for one in here:
        if one.is_variable and one.clause == clause and not one.start <= offset <= one.end:
            offer(one.key[0], types.CompletionItemKind.Variable, "variable of this clause")
    for file in dict.fromkeys([path.resolve(), *SERVER.checked(path).files]):
        for one in SERVER.symbols_of(file) if file.is_file() else ():
            if not one.is_variable and not (file == path and one.start <= offset <= one.end):
                kind = types.CompletionItemKind.Function if one.key[1] else _ATOM
                offer(one.key[0], kind, f"{one.key[0]}/{one.key[1]}")
    if language_of(path) == "ec":
        for name in sorted({*FLUENT_HEADS, *BODY_LITERALS}):
            offer(name, types.CompletionItemKind.Keyword, "of the language")
        for builtin in BUILTINS.values():
            offer(builtin.name, types.CompletionItemKind.Keyword, builtin.meaning)
    return list(known.values())


_ATOM = types.CompletionItemKind.Constant


@SERVER.feature(types.TEXT_DOCUMENT_RENAME)
def _rename(given: types.RenameParams) -> types.WorkspaceEdit | None:
    path, symbol = _at(given.text_document.uri, given.position)
    if symbol is None:
        return None
    new = _new_name(symbol, given.new_name)
    taken = (given.new_name, symbol.key[1])
    places = list(SERVER.everywhere(path, symbol))
    others = {path, *(file for file, _ in places)}
    for file in others:
        for one in SERVER.symbols_of(file):
            same_clause = one.clause == symbol.clause and file == path
            if one.key == taken and (same_clause or not symbol.is_variable):
                raise ValueError(f"{given.new_name} is there already: both would become one")
    edits: dict[str, list[types.TextEdit]] = {}
    for file, one in places:
        place = SERVER.place(file, one)
        edits.setdefault(place.uri, []).append(types.TextEdit(place.range, new))
    return types.WorkspaceEdit(changes=edits)


def _new_name(symbol: Symbol, given: str) -> str:
    """The new name as rules spell it; raises if it cannot be one."""
    name = symbol.key[0]
    if name in RESERVED_HEADS or symbol.key in BUILTINS or name in BODY_LITERALS:
        raise ValueError(f"{name} belongs to the language")
    if symbol.is_variable:
        if not given.isidentifier() or not (given[0].isupper() or given[0] == "_"):
            raise ValueError("a variable starts with a capital letter or _")
        return given
    if given in RESERVED_HEADS or given in BODY_LITERALS:
        raise ValueError(f"{given} belongs to the language")
    if not given:
        raise ValueError("a name has at least one letter")
    return given if is_plain_word(given) else quote(given)


@SERVER.feature(types.TEXT_DOCUMENT_FORMATTING)
def _formatting(given: types.DocumentFormattingParams) -> list[types.TextEdit]:
    path = _path(given.text_document.uri)
    document = SERVER.document(path)
    file = path.resolve()
    for one in SERVER.checked(path).findings:
        here = one.source is not None and Path(one.source.name).resolve() == file
        # Layout needs tokens that can be read: codes of syntax begin with H0.
        if here and one.code.startswith("H0") and has_errors([one]):
            return []
    whole = types.Range(
        types.Position(0, 0), document.client_position_at_offset(len(document.source))
    )
    text = formatted(document.source.replace("\r\n", "\n"), language_of(path))
    return [] if text == document.source else [types.TextEdit(whole, text)]
