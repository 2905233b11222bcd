"""What a run saw besides findings, as facts of the report, with paths as a person reads them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from breakscope.dynamic.findings.matching import is_varied
from breakscope.dynamic.findings.recompile_advice import of_one_name
from breakscope.dynamic.findings.settling import call_of
from breakscope.dynamic.findings.wording import cause
from breakscope.dynamic.observations.facts import Observations
from breakscope.report.model import Recompile
from breakscope.report.paths import shown_path
from breakscope.report.run_modes import Divergence


def shown_recompiles(seen: Observations) -> tuple[Recompile, ...]:
    """Every recompile as a fact of the report."""
    first = min((compile.began for compile in seen.compiles if compile.began), default=0.0)
    return tuple(
        Recompile(
            compile_id=r.frame.compile_id,
            function=r.frame.function,
            path=shown_path(r.frame.path, Path.cwd()),
            line=r.frame.line,
            family=r.guard.family,
            guard=r.guard.text,
            cause=cause(of_one_name(r), r.frame.resumed_at),
            other_causes=tuple(
                cause((other,), r.frame.resumed_at)
                for other in r.others
                if other not in of_one_name(r)
            ),
            seconds=round(r.frame.seconds, 6),
            site_path=shown_path(r.site.path, Path.cwd()) if r.site else "",
            site_line=r.site.line if r.site else 0,
            call=call_of(r.frame),
            varied=is_varied(r),
            after_seconds=round(r.frame.began - first, 3) if first and r.frame.began else None,
        )
        for r in seen.recompiles
    )


def shown(fact):
    """A graph, CUDA graph or skipped frame with its path as a person wants to read it."""
    return type(fact)(
        **{name: getattr(fact, name) for name in fact.__struct_fields__}
        | {"path": shown_path(fact.path, Path.cwd())}
    )


def shown_divergence(found: Divergence | None) -> Divergence | None:
    if found is None:
        return None
    return msgspec.structs.replace(
        found,
        events=tuple(
            msgspec.structs.replace(e, path=shown_path(e.path, Path.cwd())) for e in found.events
        ),
    )
