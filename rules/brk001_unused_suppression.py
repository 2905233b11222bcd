"""A comment that silences a finding, where there is none.

`# breakscope: ignore[BRK201]`, `# noqa: BRK201` and `# breakscope: ignore-file[BRK2]` silence what is
found on a statement or in a file. Code changes, torch learns to trace more, and the comment stays: it
says of a line what is no longer true, and the next break there would be silent.

Each code of a comment is looked at by itself: in `ignore[BRK201, BRK401]` one may be in use and the
other not. A comment without a code is unused when nothing at all is silenced by it; `# noqa` alone
speaks to other linters too, and is left alone, and so is a code that only a run can find. So are the
comments of a check with `--entry`, which looks at a part of the code.

A comment counts as used when any of the checked files leads to a finding there. Where no compiled code
of theirs leads to its function, another file may: then the finding is only possible, and is hidden
unless `--show-possible` asks for it.

`breakscope fix` removes the code, with the last code the comment, and with the comment its line where
nothing else stands there. To keep one, name this code in it: `# breakscope: ignore[BRK201, BRK001]`.
"""

from breakscope.rulekit.rule import Rule

rule = Rule("BRK001", "unused-suppression", kind="usage", severity="warning", fix="safe")
