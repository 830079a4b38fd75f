"""The results document of a run that begins, or that goes on from an earlier one's file."""

from __future__ import annotations

import datetime
import json
from typing import TYPE_CHECKING, Any

from tessarray_bench.harness import machine
from tessarray_bench.results_file import FORMAT

if TYPE_CHECKING:
    from tessarray_bench.harness.run import Plan

# What must be the same for a run to go on from an earlier one's file. Repeats may be more: they are added.
HELD = ("seed", "baseline", "scale", "cache")


class ResumeError(ValueError):
    """The results file is not one of the same run; the text says what differs."""


def begin(plan: Plan, resume: bool) -> dict[str, Any]:
    """A new document, or with `resume` the one of an earlier run of the same plan."""
    plan.out.parent.mkdir(parents=True, exist_ok=True)
    document = _new(plan)
    if resume and plan.out.exists():
        try:
            earlier: dict[str, Any] = json.loads(plan.out.read_text(encoding="utf-8"))
        except ValueError as problem:
            raise ResumeError(f"{plan.out}: expected a JSON document: {problem}") from None
        if earlier.get("format") != FORMAT:
            raise ResumeError(f"{plan.out}: expected format {FORMAT!r}, found {earlier.get('format')!r}")
        for name in HELD:
            ours, theirs = document["settings"][name], earlier["settings"].get(name)
            if ours != theirs:
                raise ResumeError(f"{plan.out}: cannot go on: {name} was {theirs!r}, is {ours!r}")
        if other_machine(document["machine"], earlier["machine"]):
            raise ResumeError(f"{plan.out}: cannot go on: it was made on another machine")
        for part in ("workloads", "systems"):
            for name in earlier[part].keys() & document[part].keys():
                # As JSON has them; of a system the versions count, not what else is told of it.
                ours, theirs = json.loads(json.dumps(document[part][name])), earlier[part][name]
                if part == "systems":
                    ours, theirs = ours.get("versions"), theirs.get("versions")
                if ours != theirs and ours is not None and theirs is not None:
                    what = "the definition" if part == "workloads" else f"versions (was {theirs}, is {ours})"
                    raise ResumeError(f"{plan.out}: cannot go on: {name}: {what} changed")
        document["rows"] = earlier["rows"]
        document["started"] = earlier["started"]
        document["systems"] = earlier["systems"] | document["systems"]
        document["workloads"] = earlier["workloads"] | document["workloads"]
    return document


def other_machine(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether two runs were made on machines that differ in processor, cores or kernel."""
    return any(ours.get(key) != theirs.get(key) for key in ("processor", "cores", "kernel"))


def _new(plan: Plan) -> dict[str, Any]:
    systems = {name: runner.about for name, runner in plan.runners.items()}
    systems |= {name: {"title": name, "absent": reason} for name, reason in plan.absent.items()}
    return {
        "format": FORMAT,
        "command": plan.command,
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "finished": None,
        "settings": {
            "scale": plan.scale,
            "repeats": plan.repeats,
            "seed": plan.seed,
            "baseline": plan.baseline,
            "cache": "dropped before reads" if plan.drop_caches else "warm",
            "time_limit": plan.time_limit,
            "workdir_filesystem": machine.filesystem(plan.workdir),
        },
        "machine": machine.facts(plan.workdir),
        "systems": systems,
        "workloads": {workload.id: workload.to_json() for workload in plan.workloads},
        "rows": [],
    }
