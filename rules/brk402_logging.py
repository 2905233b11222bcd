"""A call of a logger ends the graph, even below its level.

Dynamo does not trace the methods of `logging.Logger`: `logger.debug("...")` ends the graph although
nothing would be written, and so does the test `logger.isEnabledFor(...)`. A break in `forward` is
paid in every step, for a line that is usually switched off. loguru's logger is Python code, which Dynamo enters; it
asks for the running frame first, which ends the graph too.

Guard the line with `if not torch.compiler.is_compiling():`, log outside the region, or configure Dynamo
once that it may drop the calls:
`torch._dynamo.config.ignore_logging_functions.add(logging.Logger.debug)` (2.8 and later).

The rewrite guards the line. It counts as unsafe because the compiled model no longer logs there.
"""

import logging

import torch

from breakscope.rulekit.events import Call, weaker
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK402",
    "logging",
    fix="unsafe",
    dynamo=("GB0291", "GB4841: python_type", "GB6215: LoggingLoggerVariable"),
)

LEVELS = ("debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log")
OTHERS = tuple(
    "isEnabledFor setLevel getEffectiveLevel getChild addHandler removeHandler hasHandlers".split()
)
# by transformers and others
ADDED = ("warning_once", "info_once", "warning_advice", "debug_once", "trace", "success")
METHODS = {
    f"logging.{owner}.{name}"
    for owner in ("Logger", "LoggerAdapter", "RootLogger")
    for name in (*LEVELS, *OTHERS, *ADDED)
}
FUNCTIONS = {f"logging.{name}" for name in (*LEVELS, "getLogger", "basicConfig")}
LOGURU = {f"loguru.logger.{name}" for name in (*LEVELS, "trace", "success")}


@rule.on(Call, METHODS, FUNCTIONS)
def check(event):
    yield event.problem(
        f"Dynamo does not trace the logger call `{event.shown}`, so the graph ends here, whatever the log level",
        help="put it under `if not torch.compiler.is_compiling():`, or log outside the compiled region",
    )


@rule.on(Call, LOGURU)
def check_loguru(event):
    yield event.problem(
        f"loguru asks in `{event.shown}` for the running frame, which Dynamo does not show, so the graph ends here, "
        "whatever the log level",
        help="put it under `if not torch.compiler.is_compiling():`, or log outside the compiled region",
        certainty=weaker(event.certainty, "likely"),  # a logger without a handler returns first
        dynamo=("GB0007",),
    )


@rule.rewrite
def rewrite(node, problem):
    from breakscope.rulekit.guarding import skip_while_compiling

    return skip_while_compiling(node, problem)


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=("GB0291",))
def bad():
    logger = logging.getLogger("rules.brk402")

    def model(x):
        logger.debug("shape %s", x.shape)  # BRK402
        return x + 1

    return model


@rule.becomes
def good():
    logger = logging.getLogger("rules.brk402")

    def model(x):
        if not torch.compiler.is_compiling():
            logger.debug("shape %s", x.shape)
        return x + 1

    return model


@rule.example(lambda: (torch.ones(4),), dynamo=("GB4841",))
def bad(x):
    y = x * 2
    logging.debug("mean %s", y.shape)  # BRK402
    return y


@rule.becomes
def good(x):
    y = x * 2
    if not torch.compiler.is_compiling():
        logging.debug("mean %s", y.shape)
    return y


@rule.example(lambda: (torch.ones(4),), dynamo=("GB6215",))
def bad_level(x):
    if logging.getLogger().level <= logging.DEBUG:  # BRK402
        x = x * 2
    return x + 1
