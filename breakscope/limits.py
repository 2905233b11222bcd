"""All limits: what is cut off, with the unit and the reason; read as `limits.NAME`, for tests."""

from __future__ import annotations

# ---- the result cache
# Bytes of the result cache. What was stored first is dropped first.
LARGEST_CACHE = 300_000_000
# Bytes of one stored answer, unpacked.
LARGEST_STORED_ANSWER = 20_000_000

# ---- one region and the calls in it
# Steps (statements, calls, rows of comprehensions) for one region, and for a module's top level.
# Models stay far below; a program that multiplies its own paths must end somewhere.
MOST_REGION_STATEMENTS = 200_000
# Steps for all regions of one file; each may take a share of what is left, so that all have some.
MOST_FILE_STATEMENTS = 800_000
SHARE_OF_A_REGION = 1 / 4
# Steps for the statements behind one that took too much: this many, then half as many each time.
MORE_STATEMENTS = 4_000
# The share of these steps that calls around a region may take each time anew.
SHARE_WITH_CARE = 1 / 4
# Classes in the order of one's bases that count as a step.
BASES_OF_A_STEP = 16
# Times that a loop's body is run until its names change no more: the second sees what the first left.
MOST_LOOP_PASSES = 2
MOST_LOOP_NAMES = 8  # for which a `for` is run one by one: each means other attributes and keys
MOST_NESTED_LOOP_RUNS = 32  # of the innermost body of such loops in each other: they multiply
# Turns of a loop whose calls of what is compiled are compared; of an inner one, or without known number.
MOST_DRIVEN_TURNS = 16
MOST_INNER_TURNS = 6  # of a loop inside of one of these
MOST_KNOWN_TURNS = 128  # of a loop of which all is known: it is followed to its end, or not at all
MOST_KNOWN_RUNS = 512  # of the innermost body of such loops in each other: they multiply
FEW_DRIVEN_TURNS = 3
MOST_SHOWN_SETTINGS = 6  # of the modules in one whose modes are listed one by one
MOST_COMPREHENSION_ITEMS = 16  # of a known iterable that a comprehension goes over one by one
# Containers in each other in which a frame's variables are searched for tensors.
DEEPEST_FRAME_SEARCH = 3
DEEPEST_MODULE_WALK = 6  # modules in each other through which a walk looks for a recurrent one
# Modules that import each other, each of which is followed as the first of them: their square counts.
LARGEST_CIRCLE = 32
# Calls in each other that are followed. Models stay below; recursion without an end does not.
DEEPEST_CALL = 100
DEEPEST_ENTERED_CALL = 5  # calls in each other of a package without torch that a region enters
# Python frames on the analysis's stack: DEEPEST_CALL calls with what they stand in.
MOST_FRAMES = 6_000
MOST_WRAPPED = 3  # functions for which one decorator's wrapper is followed: all others are alike
# Analyses of one function inside each other: what recursion does shows in the first ones.
MOST_NESTED = 3
MOST_INSIDE_ITSELF = 12  # the same, side by side too: for each part of a tree they multiply
# Statements of a function that is run for its effects, as a registry's; longer ones do other work.
LONGEST_REGISTERED_BODY = 8
MOST_HANDED_BACK_STEPS = 5  # functions through which an argument is handed back that are followed
# Characters of a condition that is put together from two.
LONGEST_CONDITION = 120
# Flags of a condition that do not hold: behind more of them stands one of many kinds, which few programs have.
MOST_UNSET_FLAGS = 2
MOST_KINDS_OF_HOST_WORK = 2  # as files, clock and processes: a `forward` with more is a program

# ---- containers
# Items that builtins and dict views keep apart; longer lists hold data of one kind.
MOST_KNOWN_ITEMS = 12
# Items of a list that grew or was repeated; with more they count as alike.
MOST_GROWN_ITEMS = 128
# Lengths of a kept container, each compiled for: torch's own limit for one function, by default.
MOST_COMPILED_LENGTHS = 8
# Different modules or functions of a list that one pass over it stands for.
MOST_ITERATED_OBJECTS = 24
MOST_CHUNKS = 16  # pieces of a tensor that `chunk` gives one by one
DEEPEST_COPY = 8  # containers in each other that `copy.deepcopy` copies: one may hold itself
# Containers in each other that are joined item by item: each may hold the next one several times.
DEEPEST_JOIN = 4
DEEPEST_NOTED_HOME = 2  # containers in one that outlives the call, whose place in it is noted
DEEPEST_SIZE_READ = 12  # calls through which a region's reads of sizes are looked up
# Containers in each other in which `holds_tensor` looks; calls that an argument is handed on through.
DEEPEST_TENSOR_SEARCH = 3

# ---- values, names and gaps
# Different values that one name may have, depending on the path; with more, nothing is known of it.
MOST_OPTIONS = 5
# The same for classes, objects and functions, which a registry chooses by a name that the source does not tell.
MOST_REGISTERED = 16
# Classes of a file that have a method, one of which an object that nothing names may have.
MOST_GUESSED_CLASSES = 2
# Items of two tuples of different lengths, together, that stay two tuples, each known by index.
MOST_ITEMS_OF_TWO_TUPLES = 9
# Containers in each other that count in the key of a call's argument.
DEEPEST_KEY = 3
# Items of a list that count in the key; of a longer one its length does.
MOST_ITEMS_IN_KEY = 12
# Entries of a dict that count in the key; a larger one is a key by its identity.
MOST_ENTRIES_IN_KEY = 24
# Bits, characters, items, exponents and bases computed of constants: Python would take any size.
MOST_FOLDED_BITS = 1_024
LONGEST_FOLDED_TEXT = 10_000
MOST_PATTERN_STEPS = 1_000_000  # of a regular expression's backtracking, around a region
MOST_FOLDED_ITEMS = 1_024
LARGEST_FOLDED_EXPONENT = 64
LARGEST_FOLDED_BASE = 1e6
# Characters that a computed name must begin or end with; fewer fit almost any name.
SHORTEST_AFFIX = 4
# Methods and attributes that one computed name may mean; with more, none is looked at.
MOST_COMPUTED_NAMES = 8
# Parts of one type annotation, those of the aliases that it names included, which may double.
MOST_ANNOTATION_PARTS = 2_000
# Modules through which a type alias is followed: imports may go in a circle.
MOST_ALIAS_STEPS = 8
# Places of one file that are named where the analysis gave up.
MOST_GAPS = 50
# Characters of an internal error's text.
LONGEST_ERROR_TEXT = 120

# ---- findings and the use of torch.compile
# Characters of one text of a finding, and of each source line that it shows.
LONGEST_TEXT = 2_000
# Lines of which the form in UTF-8 is kept, for those that are not ASCII.
MOST_ENCODED_LINES = 16
# Characters of a comment that are read for what it silences.
LONGEST_COMMENT = 2_000
# Source lines shown in front of a finding.
CONTEXT_LINES = 1
# Lines and characters of a statement that libcst parses for one finding, which is quadratic on long
# ones, and its expressions inside each other: deep ones end the process.
LONGEST_SLICE = 3_000
LONGEST_SLICE_TEXT = 20_000
DEEPEST_SLICE = 200
# Characters that libcst parses for the findings of one file, each once more, and to rewrite them.
MOST_SOUGHT_TEXT = 1_000_000
MOST_REWRITTEN_TEXT = 100_000
# Calls shown between the region and the finding; of more, the first and the last ones.
MOST_CHAIN_LINKS = 8
# Characters of the user's call that a message repeats.
LONGEST_CALL_TEXT = 60
# Answers about slices that are kept: models are copies of each other, statement by statement.
MOST_SLICE_ANSWERS = 4_000
# Statements of one file that are followed.
MOST_USAGE_STATEMENTS = 60_000
# Calls in each other into functions of the file.
DEEPEST_USAGE_CALL = 4
# Characters of an expression in a message.
LONGEST_USAGE_TEXT = 40

# ---- files and processes
# Wildcards of one line of a .gitignore file: pathspec goes back and forth between them.
MOST_WILDCARDS = 3
# Bytes of source for which a further process is started; with fewer the start takes longer.
FEWEST_BYTES_OF_A_PROCESS = 200_000

# ---- call summaries
# Analyses of one function for different constants; further ones share one for any constant.
MOST_VARIANTS = 4
MADE_FUNCTIONS_OF_A_VARIANT = 32  # calls that make a function, which keeps the constants
# Analyses for arguments of one kind, all with the same outcome, after which there are no more.
MOST_ALIKE = 2
# Analyses of one function, whatever the arguments, before one for new arguments can be left out.
MOST_ANALYSES = 5
MOST_ANALYSES_ELSEWHERE = 12  # of a library's: objects that hold each other multiply
# Latest analyses that showed nothing new, after which similar arguments share an outcome.
MOST_IDLE = 4
# The same, after which it does not matter either which tensors an object of another file has.
LONG_IDLE = 10
# Groups of arguments that are looked through for the most similar ones.
MOST_GROUPS = 24
# Analyses of an inherited constructor of another file, and of other calls made for their effect.
MOST_FOR_EFFECT = 1

# ---- files
# Bytes of a file; larger ones are data.
LARGEST_FILE = 20_000_000
# Paths whose relative form is remembered.
MOST_RELATIVE_PATHS = 10_000
# Files of an installed package that are read to see whether it uses torch.
MOST_FILES_OF_PACKAGE = 60
# Files in a folder; of more, none is looked at for the sake of the subclasses of one.
MOST_FILES_BESIDE = 200
# Bytes of source that are kept parsed: their trees take many times as much memory.
MOST_PARSED_BYTES = 12_000_000
# Bytes of parsed source above which function bodies that are not in use are evicted.
MOST_BYTES_WITH_BODIES = 1_500_000
# Files: a function body that none of so many last ones entered is not in use.
MOST_FILES_OF_USE = 20
# Lines of a function body; evicting a shorter one gains nothing.
SHORTEST_EVICTED = 4

# ---- reports as text
# Lines of a finding in a terminal: many findings must fit on a screen.
LONGEST_FINDING = 8
# Columns of a terminal; on a narrower one a finding takes the lines that its words need.
USUAL_WIDTH = 80
# Equal findings in a file, in several functions, that are shown as one: two are read as fast one by one.
FEWEST_EQUAL_FINDINGS = 3
# How many a text names of values of one argument, files with findings that were not asked for,
# places of host syncs, breaks that peeling could not take out, classes of captured modules, hazards
# and steps of one variation: the first or the worst ones.
MOST_SHOWN_VALUES = 6
MOST_NAMED_FILES = 3
MOST_SHOWN_SYNCS = 6
MOST_SHOWN_STUBBORN = 4
MOST_MODULES_SHOWN = 20
MOST_SHOWN_HAZARDS = 3
MOST_SHOWN_STEPS = 6
# Characters of a variation's reason.
LONGEST_RADAR_REASON = 200
# Columns of the benchmark's table where there is no terminal.
BENCH_WIDTH = 140
# Breaks that one line of the benchmark names.
MOST_SHOWN_SITES = 8
# CUDA graphs of a mode that the benchmark's text names.
MOST_SHOWN_CUDA_GRAPHS = 5
# Lines of a source frame below the finding's first line.
MOST_FRAME_LINES = 3
# Seconds between two drawings of the status line on a terminal; and between two plain lines, and
# before the first: a log is read later.
SECONDS_BETWEEN_DRAWINGS = 0.5
SECONDS_BETWEEN_LINES = 30.0

# ---- traces and observations
# Bytes of a trace read at a time.
CHUNK = 1 << 20
# Bytes of one record; what is longer is cut off there.
LARGEST_RECORD = 16 << 20
# Recompiles for one cause from which on it is said that they go on, where the last calls had them.
FEWEST_TO_GROW = 3
QUIET_TIMES = 2.0  # settled: a program that ran so many times as long as until its last recompile
FEWEST_SECONDS_TO_SETTLE = 10.0  # as which the time until then counts at least
# Runs of --prove that go on at the same time: each is a process that compiles.
PROOFS_AT_ONCE = 2
# Further places of one cause that the text format names.
MOST_SHOWN_PLACES = 4
# Places that are named of what a setting removed.
MOST_PROVED_PLACES = 3
# Second causes of a recompile that are named: more are one change seen by several guards.
MOST_SECOND_CAUSES = 3
# Bytes of guard trees that are held while a trace is read, to compare the versions of a function
# that was compiled again: beyond it the cause is read from the failed guards alone.
GUARD_TREES = 128 << 20
# Characters of a line of a text log; what is longer is damage, as for the next three.
LONGEST_LOG_LINE = 1 << 20
# Characters of a line of a traceback, of a path and of a function's name.
LONGEST_TRACEBACK_LINE = 5000
LONGEST_PATH = 4096
LONGEST_NAME = 400
# Bytes of one trace that one look at a running program reads.
LIVE_CHUNK = 4 << 20
# Bytes at the end of a child's progress log that say what it does now.
PROGRESS_TAIL = 8 << 10
# Lines of the list of events that is printed while a program runs; what follows is only counted.
MOST_LIVE_LINES = 200
# Characters of one part of a break's reason.
LONGEST_REASON = 4000
# Characters of a guard.
LONGEST_GUARD = 2000
# Characters of the source of a host sync.
LONGEST_SYNC_SOURCE = 80
# Characters of the reason why a CUDA graph was left out.
LONGEST_CUDA_GRAPH_REASON = 300
# Characters of an exception's message in a note.
LONGEST_EXCEPTION_TEXT = 200
# Characters of source in a message.
LONGEST_SNIPPET = 60
# Frames above a host sync in which the user's line is searched for.
DEEPEST_SYNC_STACK = 200

# ---- runs and the radar
# Seconds that a child over its limit gets to write its stacks.
GRACE_OF_CHILD = 1.0
# Seconds after the deadline at which a process whose parent is gone ends itself.
ORPHAN_SECONDS = 30
# Seconds that processes may take to go when they are killed: a device that hangs may keep them.
KILL_SECONDS = 10.0
# Seconds between two looks at what is left of them.
KILL_TICK = 0.01
# Seconds that a temporary folder may be without its lock: it is made just before.
UNLOCKED_SECONDS = 60.0
# Bytes that must still fit beside a trace, or its disk is taken for full.
DISK_PROBE = 1 << 16
# Seconds between two looks at a traced program.
PROGRAM_TICK = 0.2
# Seconds between terminating a program and killing it.
GRACE_OF_PROGRAM = 5.0
# The number of the interrupt that kills.
KILLING_INTERRUPT = 3
# Seconds within which several interrupts are one: what starts us may pass on what we get anyway.
ONE_INTERRUPT_SECONDS = 1.0
# Equal calls: the first compiles, the second shows what the first changed, the third what became
# dynamic.
SAME_CALLS = 3
# Runs that `--peel` makes at most: a break in a straight `try` hides the next one, and each takes
# a run.
MOST_PEEL_ROUNDS = 12
# Elements of an operand that is still computed where a break is taken out.
MOST_NEUTRAL_OPERAND = 64
# Compiles of one function while peeling: none may be skipped at the recompile limit.
MOST_NEUTRAL_COMPILES = 64
# Items that a loop whose iterator was replaced goes over.
MOST_NEUTRAL_ITEMS = 10_000
# Recompiles for one dimension that are still no hazard: dynamic sizes need one.
MOST_SAME_SIZE_RECOMPILES = 4
# Arguments that the name of a varied dimension lists.
MOST_NAMED_OWNERS = 3
# Plain values among the arguments that are varied.
MOST_VARIED_VALUES = 6
# Characters of such a value in a name.
LONGEST_VARIED_VALUE = 30
SAME_STEPS = 12  # calls with equal arguments: more than the recompile limit
# Other sizes, so that a function that is compiled for each of them reaches the recompile limit.
OTHER_SIZES = 9
# Steps in a row that compile nothing: the rest of them would not either.
QUIET_STEPS = 3
# Calls of a variation, and seconds, that time must be left for.
FEWEST_CALLS = 3
FEWEST_SECONDS = 5.0

# ---- the benchmark
# Steps beside one turn through all calls before a step counts as warm, at least.
FEWEST_WARM_STEPS = 6
# Turns through all calls that warming up takes at most.
MOST_WARM_TURNS = 60
QUIET_TURNS = 3  # turns without a compile before a step counts as warm
# Share of the time limit that is kept for the steps; and of a mode's time by which it has to be
# warm: a step that never stops compiling is measured as it is then.
SHARE_FOR_STEPS = 0.25
SHARE_FOR_WARMING = 0.9
# Seconds of a block of steps in a process of its own, and its fewest and most steps.
BLOCK_SECONDS = 0.08
SHORTEST_BLOCK = 3
LONGEST_BLOCK = 60
# The same for two forms of a step side by side in one process: the shorter the blocks, the less
# the machine's pace matters.
NEAR_BLOCK_SECONDS = 0.005
SHORTEST_NEAR_BLOCK = 2
LONGEST_NEAR_BLOCK = 50
# Rounds of such blocks, and seconds of stepping.
MOST_NEAR_ROUNDS = 150
MOST_NEAR_SECONDS = 12.0
# Breaks whose cost is measured: each is a form of the step that is compiled once more.
MOST_COST_FORMS = 8
RESAMPLES = 2000  # resamples of a bootstrap interval
# Rounds with fewer of which no sign test can be significant.
FEWEST_ROUNDS = 6
# Share of a step's time: two processes that run the same code differ by this much; rounds do not
# show it.
SMALLEST_EFFECT = 0.02
# Half of a ratio's interval, as a share of the ratio: where a wider one holds 1, the machine is too
# noisy to tell. By as much the ratio of the medians may differ from the median of the ratios.
WIDEST_INTERVAL = 0.15
# The same for a step traced twice, side by side in one process.
SMALLEST_NEAR_EFFECT = 0.005
# Share of op time: with less of it compiled, that may be why compiling does not pay.
MOSTLY_COMPILED = 0.9
# Turns under the profiler, and the most until two halves of them agree.
COVERAGE_TURNS = 4
MOST_COVERAGE_TURNS = 10
STEADY_SHARE = 0.05  # share by which two such halves may differ
MOST_EAGER_OPS = 5  # ops outside of graphs that the report names
# Turns under the profiler for the share of time that the GPU is busy.
BUSY_TURNS = 3
# Share of the largest of all values: a tensor below it may be rounding alone.
ROUNDING_SHARE = 1e-3

# ---- fixes and their proof
# Times that files are analysed and rewritten: each fix may make room for another, and one that makes
# room for itself would go on for ever.
MOST_FIX_PASSES = 30
# Seconds that git has to name what is committed; a repository on a network may not answer.
GIT_SECONDS = 10.0
# Seconds for calls with other values than the target's own, in eager; each builds the target anew.
OTHER_VALUES_SECONDS = 20.0
# The factor of such values: large ones, of which an exponential function has no finite value.
LARGE_VALUES = 1e4
# Characters of a value that is no tensor, and of a message; items of a list of a module's.
LONGEST_KEPT_TEXT = 2_000
MOST_KEPT_ITEMS = 200
# Seconds of stepping for the least time of a step.
STEP_TIMING_SECONDS = 0.5
# Runs of the rewritten target: fixes that do not pass together are tried in halves.
MOST_PROOF_RUNS = 24

# ---- repro
# Seconds of making a program smaller, and of one run of it.
REPRO_SECONDS = 60.0
REPRO_RUN_SECONDS = 15

# ---- fake runs
# Elements of a tensor whose numbers are computed too: masks and tables are smaller, weights larger.
MOST_KNOWN_ELEMENTS = 1 << 18
# Elements of a tensor whose numbers are drawn because the program asks for them.
MOST_DRAWN_ELEMENTS = 1 << 22
# A size that depends on values and has no bound.
ASSUMED_SIZE = 8
MOST_KEPT_ANSWERS = 6  # different answers of one place that are kept
# Assumed answers of one place in a row, in one call: a loop may wait for the other one.
MOST_SAME_ANSWERS = 16
# Frames that an answer's place is looked for in.
MOST_ANSWER_FRAMES = 60
# Runs that `--explore` makes at most: each branch that depends on values may need one.
MOST_EXPLORED_RUNS = 12
# Other numbers that are tried for one that a branch depends on.
MOST_OTHER_NUMBERS = 2
# Answers, and answers that were not tried, in one line of the report.
MOST_SHOWN_ANSWERS = 6
