"""A break that only a run can see.

Dynamo ended the graph at this line and no other rule explains it: the cause lies in values, types
or library code that source alone does not show, or Dynamo has no support for something that it
supports elsewhere.

The report quotes Dynamo's own reason and its GB id. Look up the id at
https://meta-pytorch.github.io/compile-graph-break-site/ for the reason's whole page, with the
places in torch that raise it.

What to do, in this order: follow Dynamo's hint where it names one; move the line out of the
compiled region (into `__init__`, or behind the call); replace it by tensor operations; and where it
must stay, fence it with `torch.compiler.disable`, so that the break is at least where you put it.
"""

from breakscope.rulekit.rule import Rule

rule = Rule("BRK901", "seen-only-by-a-run")
