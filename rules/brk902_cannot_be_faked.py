"""What torch cannot do without real tensors.

`breakscope run --fake` runs a model on fake tensors: they have a shape, a dtype and a device, and no
numbers. Dynamo traces with such tensors too, and so does `torch.export`. What needs the numbers cannot
run on them: an op of an extension that registered no fake kernel, C or C++ code that takes a tensor's
data pointer, a value of a tensor too large to make one up.

Where the tensors are small, a fake run computes such an op on values to see what it gives, and goes on;
where they are large it ends there, and what stands behind is not seen.

What to do: give the op a fake kernel, a function that returns an empty tensor of the right shape, dtype
and device:

    @torch.library.register_fake("mylib::my_op")
    def _(x, weight):
        return x.new_empty(x.shape[0], weight.shape[0])

Code that is no op yet becomes one with `torch.library.custom_op`. With a fake kernel the graph need not
end there in a real run either.
"""

from breakscope.rulekit.rule import Rule

rule = Rule("BRK902", "cannot-be-faked", kind="usage")
