"""A recompile that only a run can see.

A compiled function carries guards: the facts about its inputs that the compiled code relies on. When a call fails a
guard, Dynamo compiles the function again, which costs seconds, and keeps both versions. After eight versions
(`torch._dynamo.config.recompile_limit`) it gives up, and the function runs eager from then on without a word.

The finding quotes the guard that failed, with the family it belongs to and the line that needs it. No other rule is
about this family.

What to do: keep the guarded value the same in every call; or hold it in a tensor, which is guarded by shape and dtype
and not by value; or mark what varies as dynamic (`torch._dynamo.mark_dynamic`, `torch.compile(..., dynamic=True)`).
A recompile that happens once, for example in the first optimizer step, costs once and may be left alone.
"""

from breakscope.rule import Rule

rule = Rule("BRK951", "recompile-seen-only-by-a-run", kind="recompile", severity="warning")
