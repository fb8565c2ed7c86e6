"""Files that files ask for: `:- ['areas.prolog'].`, found from the folder of the file that asks."""

from __future__ import annotations

from pathlib import Path

from horai.lang.directives import Load
from horai.lang.report import Report
from horai.lang.syntax_codes import SYNTAX_CODES

_ENDINGS = ("", ".prolog", ".pl", ".ec")


class Loader:
    """Knows which files were read already, so that none is read twice."""

    def __init__(self) -> None:
        self.report = Report(SYNTAX_CODES)
        self._seen: set[Path] = set()

    def is_new(self, path: Path) -> bool:
        """True the first time a file is met, under whatever path."""
        resolved = path.resolve()
        if resolved in self._seen:
            return False
        self._seen.add(resolved)
        return True

    def find(self, load: Load) -> Path | None:
        """The file that is asked for; None after saying that there is none."""
        folder = Path(load.source.name).parent
        # Prolog systems look in the working directory, too.
        for start in (folder, Path()):
            for ending in _ENDINGS:
                path = start / f"{load.name}{ending}"
                if path.is_file():
                    return path
        hint = f"put it there, or pass it under its new path; it is looked for in {folder}"
        self.report.add("H027", f"there is no file `{load.name}`", load.source, load.span, hint)
        return None
