"""The language server, asked by a real client in another process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

RULES = """\
% Whoever wins is rich.
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T), person(X).
holdsFor(happy(X)=true, I) :- holdsFor(rich(X)=true, I1), union_all([I1], I).
"""
PROJECT = '[project]\nname = "p"\nrules = ["rules.ec"]\nbackground = ["people.ec"]\n'


class Editor:
    """An editor with one project open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = LanguageClient("test", "1")
        self.findings: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def _published(found: types.PublishDiagnosticsParams) -> None:
            self.findings.put_nowait(found)

        self.version = 1

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def at(self, name: str, line: int, column: int) -> dict[str, Any]:
        return {
            "text_document": types.TextDocumentIdentifier(self.uri(name)),
            "position": types.Position(line, column),
        }

    def open(self, name: str) -> None:
        text = (self.folder / name).read_text(encoding="utf-8")
        item = types.TextDocumentItem(self.uri(name), "horai", self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def type(self, name: str, text: str) -> None:
        """Replace the whole text, without saving it."""
        self.version += 1
        whole = types.TextDocumentContentChangeWholeDocument(text)
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri(name))
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    async def found(self, name: str) -> list[types.Diagnostic]:
        """The next findings in a file."""
        while True:
            found = await asyncio.wait_for(self.findings.get(), 60)
            if found.uri == self.uri(name):
                return list(found.diagnostics)

    async def codes(self, name: str) -> list[str]:
        """The codes of the next findings in a file."""
        return [str(one.code) for one in await self.found(name)]


def edited(folder: Path, story: Callable[[Editor], Awaitable[None]]) -> None:
    """Run a story with a server of its own."""
    (folder / "rules.ec").write_text(RULES, encoding="utf-8")
    (folder / "people.ec").write_text("person(chris).\nperson(kim).\n", encoding="utf-8")
    (folder / "horai.toml").write_text(PROJECT, encoding="utf-8")

    async def run() -> None:
        editor = Editor(folder)
        await editor.client.start_io(sys.executable, "-m", "horai", "lsp")
        asked = types.InitializeParams(types.ClientCapabilities(), root_uri=folder.as_uri())
        await editor.client.initialize_async(asked)
        editor.client.initialized(types.InitializedParams())
        try:
            await story(editor)
        finally:
            await editor.client.shutdown_async(None)
            editor.client.exit(None)
            await editor.client.stop()  # type: ignore[no-untyped-call]

    asyncio.run(run())


def test_findings_follow_what_is_typed_and_know_the_project(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        editor.open("rules.ec")
        assert await editor.codes("rules.ec") == []  # person/1 is in the background
        editor.type("rules.ec", RULES.replace("happensAt(win(X), T)", "hapensAt(win(X), T)"))
        assert "H111" in await editor.codes("rules.ec")
        editor.type("rules.ec", RULES)
        assert await editor.codes("rules.ec") == []
        (tmp_path / "alone.lars").write_text("h :- always a.\n", encoding="utf-8")
        editor.open("alone.lars")
        assert await editor.codes("alone.lars") == ["H609"]

    edited(tmp_path, story)


def test_places_of_findings_count_as_editors_do(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        editor.open("rules.ec")
        await editor.codes("rules.ec")
        editor.type("rules.ec", "a('😀') :- hapensAt(b, T).\r\n")
        found = await editor.found("rules.ec")
        place = next(one for one in found if one.code == "H111").range
        assert (place.start.character, place.end.character) == (11, 19)  # 😀 counts as two

    edited(tmp_path, story)


def test_help_definitions_references_and_names(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        editor.open("rules.ec")
        await editor.codes("rules.ec")
        client = editor.client
        hover = await client.text_document_hover_async(
            types.HoverParams(**editor.at("rules.ec", 3, 42))
        )
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        said = hover.contents.value
        for part in ("rich/1", "simple fluent", "level 1", "argument 1", "Whoever wins is rich"):
            assert part in said

        person = editor.at("rules.ec", 2, 60)
        found = await client.text_document_definition_async(types.DefinitionParams(**person))
        assert isinstance(found, list)
        places = [(one.uri, one.range.start.line) for one in found]
        assert places == [(editor.uri("people.ec"), 0), (editor.uri("people.ec"), 1)]

        rich = editor.at("rules.ec", 1, 13)
        context = types.ReferenceContext(include_declaration=True)
        uses = await client.text_document_references_async(
            types.ReferenceParams(**rich, context=context)
        )
        assert uses is not None
        assert [one.range.start.line for one in uses] == [1, 2, 3]

        renamed = await client.text_document_rename_async(
            types.RenameParams(**rich, new_name="New York")
        )
        assert renamed is not None
        assert renamed.changes is not None
        edits = renamed.changes[editor.uri("rules.ec")]
        assert [edit.new_text for edit in edits] == ["'New York'"] * 3

        listed = await client.text_document_document_symbol_async(
            types.DocumentSymbolParams(types.TextDocumentIdentifier(editor.uri("rules.ec")))
        )
        assert listed is not None
        assert [one.name for one in listed] == ["rich/1", "happy/1"]

    edited(tmp_path, story)


def test_a_name_is_not_renamed_to_one_that_is_there(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        editor.open("rules.ec")
        await editor.codes("rules.ec")
        for new, why in (("happy", "is there already"), ("holdsAt", "belongs to the language")):
            asked = types.RenameParams(**editor.at("rules.ec", 1, 13), new_name=new)
            try:
                await editor.client.text_document_rename_async(asked)
            except Exception as refused:
                assert why in str(refused)
            else:
                raise AssertionError(f"renamed to {new}")

    edited(tmp_path, story)


def test_completion_and_layout(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        editor.open("rules.ec")
        await editor.codes("rules.ec")
        editor.type("rules.ec", RULES + "holdsFor(both(Xs)=true,I):-h")
        await editor.codes("rules.ec")
        offered = await editor.client.text_document_completion_async(
            types.CompletionParams(**editor.at("rules.ec", 4, 28))
        )
        assert isinstance(offered, list)
        labels = {one.label for one in offered}
        assert {"rich", "person", "holdsFor", "union_all", "Xs", "member"} <= labels
        assert "h" not in labels
        asked = types.DocumentFormattingParams(
            types.TextDocumentIdentifier(editor.uri("rules.ec")), types.FormattingOptions(4, True)
        )
        assert not await editor.client.text_document_formatting_async(asked)  # with a mistake
        editor.type("rules.ec", RULES + "holdsFor(both(X)=true,I):-holdsFor(happy(X)=true,I).\n")
        await editor.codes("rules.ec")
        edits = await editor.client.text_document_formatting_async(asked)
        assert edits is not None
        last = edits[0].new_text.splitlines()[-1]
        assert last == "holdsFor(both(X)=true, I) :- holdsFor(happy(X)=true, I)."

    edited(tmp_path, story)
