"""`one_hot` without a number of classes reads the largest id, and the graph ends.

With `num_classes` left out torch looks at `ids.max() + 1`, so the result's width depends on data.
Dynamo refuses the call (GB0246). With the number given, the call is traced as a comparison with
`arange`, free of any read.

Pass `num_classes`: the size of the vocabulary, the number of labels, `self.head.out_features`. The
width is then the same for every batch, as what comes after it nearly always expects; where it was
narrower before, columns of zeros are added. One-hot codes carry no gradient.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK308", "one-hot-without-classes", dynamo=("GB0246: one_hot",), shares=("GB0033",))


@rule.on(Call, "torch.nn.functional.one_hot")
def check(event):
    classes = event.argument(1, "num_classes")
    if classes is None or (classes.is_const and classes.value == -1):
        yield event.graph_break(
            f"`{event.source}` reads the largest id to find its number of classes",
            help="pass the number of classes: `F.one_hot(ids, num_classes=n)`",
        )


@rule.example(lambda: (torch.tensor([0, 2, 1]),), lambda: (torch.tensor([2]),), dynamo=("GB0246",))
def bad(ids):
    codes = torch.nn.functional.one_hot(ids)  # BRK308
    return codes.float() * 2


@rule.becomes
def good(ids):
    codes = torch.nn.functional.one_hot(ids, num_classes=3)
    return codes.float() * 2
