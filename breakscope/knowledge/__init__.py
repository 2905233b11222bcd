"""What torch itself declares, and what was measured under Dynamo, for one torch version.

    facts = load("2.13.0")
    facts.call("time.time").breaks            # ("GB0007",)
    facts.call("int").verdict(("0d float tensor",)).breaks
    facts.returns("Tensor.dim")               # "int"

The tables lie in `rules/knowledge/<torch version>/`, one JSON file per topic, read when first
needed; they are made by `python -m breakscope.knowledge.build`. Reading them never imports torch.
"""

from breakscope.knowledge.measured import kind
from breakscope.knowledge.tables import Knowledge, differing, load
from breakscope.knowledge.versions import (
    DIFFERENCES,
    out_of_range,
    shipped,
    since,
    target_version,
    targeting,
)

__all__ = [
    "DIFFERENCES",
    "Knowledge",
    "differing",
    "kind",
    "load",
    "out_of_range",
    "shipped",
    "since",
    "target_version",
    "targeting",
]
