"""What torch itself says, and what was measured under Dynamo, for one torch version.

    facts = load("2.13.0")
    facts.call("time.time").breaks            # ("GB0007",)
    facts.call("int").judge(("0d float tensor",)).breaks
    facts.returns("Tensor.dim")               # "int"

The tables lie in `rules/knowledge/<torch version>/`, one JSON file per topic, read when first asked
for; they are made by `python -m breakscope.knowledge.build`. Reading them never imports torch.
"""

from breakscope.knowledge.measured import kind
from breakscope.knowledge.tables import Knowledge, differing, load
from breakscope.knowledge.versions import (
    DIFFERENCES,
    judging_by,
    out_of_range,
    shipped,
    since,
    target_version,
)

__all__ = [
    "DIFFERENCES",
    "Knowledge",
    "differing",
    "judging_by",
    "kind",
    "load",
    "out_of_range",
    "shipped",
    "since",
    "target_version",
]
