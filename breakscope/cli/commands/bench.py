"""breakscope bench FILE::NAME"""

from __future__ import annotations

import click

from breakscope.cli import options
from breakscope.cli.session import OutputOptions, guarded
from breakscope.cli.types import OneOf, Seconds

MODES = ("default", "dynamic", "reduce-overhead", "max-autotune")


class Modes(click.ParamType):
    """Names of modes, separated by commas, or "all"."""

    name = "modes"

    def convert(self, value, param, ctx) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        wanted = {name.strip() for name in value.split(",") if name.strip()} - {"eager"}
        if wanted == {"all"}:
            return MODES
        for name in sorted(wanted - set(MODES)):
            self.fail(
                f"no mode is called {name!r}; there are {', '.join(MODES)}, or all.", param, ctx
            )
        if not wanted:
            self.fail("name at least one mode besides eager.", param, ctx)
        return tuple(mode for mode in MODES if mode in wanted)


@click.command("bench")
@click.argument("target", type=click.Path(), metavar="FILE::NAME")
@click.option(
    "--modes",
    type=Modes(),
    default="default",
    show_default=True,
    help="default, dynamic, reduce-overhead, max-autotune, or all; eager always takes part.",
)
@click.option(
    "--calls",
    default="",
    metavar="NAME",
    help="Function of the file that returns the argument tuples.",
)
@click.option("--backend", default="inductor", show_default=True, help="Backend of torch.compile.")
@click.option("--device", default=None, help="cpu, cuda, cuda:1, ... [CUDA when present].")
@click.option("--no-backward", is_flag=True, help="Time the forward only.")
@click.option(
    "--no-estimate", is_flag=True, help="Leave out what a step without breaks would take."
)
@click.option(
    "--rounds",
    type=click.IntRange(6, 1000),
    default=20,
    show_default=True,
    help="Turns that each mode gets.",
)
@click.option(
    "--timeout",
    type=Seconds(),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of everything together.",
)
@click.option(
    "--mode-timeout",
    type=Seconds(),
    default=None,
    metavar="SECONDS",
    help="Time limit of each mode's compiling [an equal share of what --timeout leaves].",
)
@click.option(
    "--format",
    "-f",
    "format",
    type=OneOf(["text", "json"]),
    default="text",
    help="How to show it [text].",
)
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False), default="", help="Write it to this file."
)
@click.option(
    "--color",
    type=OneOf(["auto", "always", "never"]),
    default="auto",
    help="Colour the text format.",
)
def command(target: str, **given) -> int:
    """Measure what compiling a model costs and gains, and say which mode to use.

    Each mode runs in a process of its own, from empty caches. Steps are timed in turns (A B, B A,
    ...) once nothing compiles any more. NAME is an nn.Module class, a function, or a factory that
    returns (callable, args, kwargs).

    Exit code 0 when the modes could be compared, 2 when not.
    """

    file, name = options.split_target(target)

    def work() -> int:
        from breakscope.cli.measurements import deliver_measured
        from breakscope.dynamic.bench.options import BenchOptions
        from breakscope.workflows.bench import bench

        measured = bench(
            BenchOptions(
                file=file,
                name=name,
                modes=given["modes"],
                calls=given["calls"],
                backend=given["backend"],
                device=given["device"],
                backward=not given["no_backward"],
                rounds=given["rounds"],
                timeout=given["timeout"],
                mode_timeout=given["mode_timeout"],
                estimate=not given["no_estimate"],
            )
        )
        return deliver_measured(
            measured,
            OutputOptions(format=given["format"], file=given["output"], color=given["color"]),
        )

    return guarded(work)
