"""A gradient of compiled code is differentiated once more, which raises.

Gradient penalties, physics-informed losses and forces take a gradient of the model's output with `create_graph=True`,
and the training's backward pass goes through that gradient. The default backend, inductor, and all others that go
through AOTAutograd compile one backward pass of each graph, which has no gradient of its own: the second pass raises
a RuntimeError, "torch.compile with aot_autograd does not currently support double backward".

Take the gradient inside the compiled function with `torch.func.grad`, which Dynamo traces: the gradient is then a part
of the forward graph, and one backward pass is left. Or leave this call to eager mode, with
`torch.compiler.set_stance("force_eager")` around it, or by calling the module that was compiled.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Differentiated

rule = Rule("BRK832", "double-backward", kind="usage", severity="error")


@rule.on(Differentiated)
def check(event):
    yield event.problem(
        f"a backward pass through this gradient of the compiled `{event.subject}` raises a RuntimeError: what is "
        "compiled has no second derivative",
        help="take the gradient with `torch.func.grad` inside the compiled function, or call it in eager mode here",
    )


@rule.program(shows={"error": "double backward"}, instead={"error": ""})
def bad():
    critic = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    compiled = torch.compile(critic, backend="aot_eager")
    x = torch.ones(2, 4, requires_grad=True)
    score = compiled(x)
    (slope,) = torch.autograd.grad(score.sum(), x, create_graph=True)  # BRK832
    (slope.norm() - 1).square().backward()


@rule.becomes
def good():
    critic = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))

    @torch.compile(backend="aot_eager")
    def penalty(x):
        slope = torch.func.grad(lambda at: critic(at).sum())(x)
        return (slope.norm() - 1).square()

    penalty(torch.ones(2, 4)).backward()


@rule.program(shows={"error": "double backward"}, instead={"error": ""})
def bad_called():
    critic = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    compiled = torch.compile(critic, backend="aot_eager")

    def penalty(model, x):
        score = model(x)
        (slope,) = torch.autograd.grad(score.sum(), x, create_graph=True)  # BRK832
        return (slope.norm() - 1).square()

    penalty(compiled, torch.ones(2, 4, requires_grad=True)).backward()


@rule.becomes
def good_called():
    critic = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    compiled = torch.compile(critic, backend="aot_eager")

    def penalty(model, x):
        with torch.compiler.set_stance("force_eager"):
            score = model(x)
        (slope,) = torch.autograd.grad(score.sum(), x, create_graph=True)
        return (slope.norm() - 1).square()

    penalty(compiled, torch.ones(2, 4, requires_grad=True)).backward()
