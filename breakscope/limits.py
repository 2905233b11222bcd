"""All limits: what is cut off, with the unit and the reason.

Code reads them as `limits.NAME`, so that a test changes a limit in one place. What runs in the
process of the user's program has limits of its own in `dynamic/child/`, because nothing of
breakscope is imported there.
"""

from __future__ import annotations

# ---- one region and the calls in it

# Statements run for one region. Models stay far below; a program that multiplies its own paths must
# end somewhere.
MOST_REGION_STATEMENTS = 60_000
# Times that a loop's body is run until its names no longer change: values join, and the second time
# sees what the first one left.
MOST_LOOP_PASSES = 2
# Names for which the body of a `for` is run one by one. With each name other attributes and keys
# are meant; longer lists hold data.
MOST_LOOP_NAMES = 8
# Runs of the innermost body when such loops stand in each other: they multiply.
MOST_NESTED_LOOP_RUNS = 32
# Items of a known iterable that a comprehension goes over one by one.
MOST_COMPREHENSION_ITEMS = 16
# Containers in each other in which a frame's variables are searched for tensors: one may hold
# itself.
DEEPEST_FRAME_SEARCH = 3
# Modules in each other through which a walk looks for a recurrent one.
DEEPEST_MODULE_WALK = 6

# ---- containers

# Items, for builtins and dict views that keep items apart. Short lists are written out by hand and
# unpacked; longer ones hold data of one kind.
MOST_KNOWN_ITEMS = 12
# Items of a list after it grew or was repeated, beyond which its items count as alike.
MOST_GROWN_ITEMS = 64
# Different modules or functions of a list that one pass over it stands for.
MOST_ITERATED_OBJECTS = 24
# Pieces of a tensor that `chunk` gives one by one.
MOST_CHUNKS = 16
# Containers in each other that `copy.deepcopy` copies, and that are joined item by item: a
# container may hold itself.
DEEPEST_COPY = 8
DEEPEST_JOIN = 8
# Containers in each other inside of one that outlives the call, whose place in it is noted.
DEEPEST_NOTED_HOME = 2
# Containers in each other in which `holds_tensor` looks.
DEEPEST_TENSOR_SEARCH = 3

# ---- values

# Different values that one name may have, depending on the path; with more, nothing is known of it.
MOST_OPTIONS = 5
# Items of two tuples of different lengths, together, that stay two tuples: what is at an index is
# then known for each. Longer ones become one tuple of any length.
MOST_ITEMS_OF_TWO_TUPLES = 9
# Containers in each other that count in the key of a call's argument.
DEEPEST_KEY = 3
# Items of a list that count in the key; of a longer one its length does.
MOST_ITEMS_IN_KEY = 12
# Entries of a dict that count in the key; a larger one is a key by its identity.
MOST_ENTRIES_IN_KEY = 24
# Bits by which a constant is shifted, and the exponent and base of a constant power: Python would
# compute a number of any size.
MOST_FOLDED_SHIFT = 64
LARGEST_FOLDED_EXPONENT = 64
LARGEST_FOLDED_BASE = 1e6

# ---- names

# Characters that a computed name must begin or end with; fewer fit almost any name.
SHORTEST_AFFIX = 4
# Methods and attributes that one computed name may mean; with more, none is looked at.
MOST_COMPUTED_NAMES = 8
# Modules through which the name of a type alias is followed: imports may go in a circle.
MOST_ALIAS_STEPS = 8

# ---- findings

# Source lines shown in front of a finding.
CONTEXT_LINES = 1
# Lines of the slice that libcst parses for one finding: it is quadratic on long call chains.
LONGEST_SLICE = 3_000
# Calls shown between the region and the finding; of more, the first and the last ones.
MOST_CHAIN_LINKS = 8
# Characters of the user's call that a message repeats.
LONGEST_CALL_TEXT = 60
# Answers about slices that are kept: models are copied from each other, statement by statement.
MOST_SLICE_ANSWERS = 4_000

# ---- use of torch.compile

# Statements of one file that are followed.
MOST_USAGE_STATEMENTS = 60_000
# Calls in each other into functions of the file.
DEEPEST_USAGE_CALL = 4
# Characters of an expression in a message.
LONGEST_USAGE_TEXT = 40

# ---- processes

# Bytes of source for which a further process is started; with fewer the start takes longer.
FEWEST_BYTES_OF_A_PROCESS = 200_000
