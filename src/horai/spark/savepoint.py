"""Savepoints: a stream as it was after a step, in a folder of its own, to begin again from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from horai.spark.checkpoint import (
    Checkpoint,
    Identity,
    Manifest,
    commit_path,
    create,
    is_checkpoint,
    open_checkpoint,
)
from horai.spark.files import write_whole
from horai.spark.refusals import Refused
from horai.spark.resizing import Change, groups_for, resize, same_rules
from horai.spark.retracking import retrack
from horai.spark.tasks import Plan

TRIES = 3


def save(folder: Path, target: Path) -> Manifest:
    """Copy a stream as it is now; it should not run meanwhile."""
    if target.exists() and any(target.iterdir() if target.is_dir() else [target]):
        raise Refused(f"{target} is there already", "choose a new folder for the savepoint")
    for _ in range(TRIES):
        found = open_checkpoint(folder)
        shutil.rmtree(target, ignore_errors=True)
        try:
            target.mkdir(parents=True)
        except OSError as error:
            problem = f"{target} cannot be written: {error.strerror or error}"
            raise Refused(problem, "choose a folder that you may write to") from error
        try:
            _copy(found, target)
        except FileNotFoundError:
            continue  # the stream went on, and removed what was old
        if open_checkpoint(folder).last.number == found.last.number:
            return found.last
    shutil.rmtree(target, ignore_errors=True)
    raise Refused(f"the stream in {folder} is running", "stop it, and try again")


def _copy(found: Checkpoint, target: Path) -> None:
    """What Spark has read, and what is known: both are of the same step, or it is done again."""
    if found.spark.is_dir():
        shutil.copytree(found.spark, target / "spark")
    last = found.last
    for folder in ("state", "items"):
        (target / folder).mkdir()
    if last.state is not None:
        for path in (found.folder / "state").glob(f"*-{last.state:09}.arrow"):
            shutil.copy2(path, target / "state" / path.name)
    if last.tracks is not None:
        (target / "tracks").mkdir()
        for path in (found.folder / "tracks").glob(f"*-{last.tracks.number:09}.arrow"):
            shutil.copy2(path, target / "tracks" / path.name)
    for file in last.items:
        path = found.store.items(*file)
        shutil.copy2(path, target / "items" / path.name)
    if last.number:
        write_whole(commit_path(target, last.number), last.dump())
    write_whole(target / "stream.json", json.dumps(asdict(found.identity), indent=1).encode())


def begin(
    savepoint: Path,
    folder: Path,
    buckets: int | None,
    rules: list[tuple[str, str]],
    predicates: list[str],
    plan: Callable[[Identity], Plan],
    change: Change | None,
) -> Checkpoint:
    """A new checkpoint that goes on from a savepoint.

    It may run in another number of buckets, and with other rules if `change` says how.
    """
    if is_checkpoint(folder):
        hint = "leave out the savepoint to go on from there, or choose a new folder"
        raise Refused(f"{folder} is a checkpoint already", hint)
    saved = open_checkpoint(savepoint)
    old = saved.identity
    wanted = old.buckets if buckets is None else buckets
    identity = replace(
        old,
        rules=rules,
        predicates=predicates,
        buckets=wanted,
        groups=groups_for(old.groups, wanted),
    )
    if saved.spark.is_dir():
        shutil.copytree(saved.spark, folder / "spark")
    # The last to be written is what makes the folder a checkpoint.
    made = Checkpoint(folder, identity, saved.last)
    wanted_plan = plan(identity)
    change = change or same_rules(wanted_plan)
    known = resize(saved.last, saved.store, old.groups, made.store, wanted_plan, change)
    if known.tracks is not None:
        retrack(known.tracks, saved.store, old.groups, made.store, identity.groups)
    if known.number:
        write_whole(commit_path(folder, known.number), known.dump())
    create(folder, identity)
    return open_checkpoint(folder)
