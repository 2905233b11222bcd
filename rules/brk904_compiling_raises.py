"""A compile that raises, so that the program's call fails.

A graph break costs time and goes on in eager; this does not go on. While Dynamo or the backend
compiled the function, something failed, and the exception reached the program: a custom op without
a fake implementation, an op that fails on fake tensors, a backend that cannot compile a graph, a
dimension that was marked dynamic and must be constant, an error of Dynamo's own. The same call works
without `torch.compile`, unless the code itself is wrong.

The finding stands at the user's line, and quotes the reason that was raised.

What to do, by the reason:

- *no fake implementation*: Dynamo traces with tensors that have a size and a dtype, and no values. An op
  of your own says what comes out of it:

      @torch.library.register_fake("mylib::scale")
      def _(x, n):
          return torch.empty_like(x)

- *fails on fake tensors*: an error that eager code catches with `try`, as a fallback for sizes that do
  not fit, is raised by Dynamo instead. Test for it before the call.
- *the backend fails*: try `backend="aot_eager"` and `backend="eager"`; the first that fails is at fault.
- *marked dynamic*: the code fixes this size. `maybe_mark_dynamic` asks for it only where it can be had.
- *Dynamo itself fails*: a fault of PyTorch. Keep that code out with `torch.compiler.disable`, and report
  it.

`torch._dynamo.config.suppress_errors = True` lets every such function run in eager instead, without a
word: good for going on, not for staying.
"""

from breakscope.rulekit.rule import Rule

rule = Rule("BRK904", "compiling-raises", kind="error")
