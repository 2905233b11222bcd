"""A function was compiled so often that Dynamo gave it up.

Every call failed the guards of all versions so far, until the number of versions reached
`torch._dynamo.config.recompile_limit` (8). From then on the function is skipped: no error, no log
line in later calls, and none of the speed that was paid for. It is the most expensive recompile finding of
all, because everything was compiled eight times for nothing.

What to do: fix the recompiles of the same function, which the report lists beside this finding:
usually one value that differs in every call, such as a step counter kept as a Python int, a list
that grows, a fresh object or lambda passed in. Raising the limit only moves the wall;
`torch.compiler.set_stance("fail_on_recompile")` turns the silence into an error while you look.
"""

from breakscope.rulekit.rule import Rule

rule = Rule("BRK952", "recompile-limit", kind="recompile")
