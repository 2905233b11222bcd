"""What --peel did, in sentences."""

from __future__ import annotations

from breakscope import limits
from breakscope.report.run_modes import Peeled
from breakscope.report.summary import count


def peeled_texts(peeled: Peeled) -> list[str]:
    """What was found behind the breaks, and where that is not all."""
    if not peeled.rounds:
        return [
            "no break was found, so none is hidden behind another"
            if peeled.complete
            else "left out: no break was found, but the run did not end well"
        ]
    runs = f"{count(peeled.rounds, 'more run')} with {count(peeled.neutralised, 'found break')} neutralised"
    found = (
        f"showed {count(peeled.hidden, 'break')} behind the others"
        if peeled.hidden
        else "showed no other break"
    )
    texts = [
        f"{runs} {found}"
        + (", the last run no new one" if peeled.complete and peeled.hidden else "")
    ]
    if peeled.stubborn:
        places = ", ".join(
            f"{link.path}:{link.line}" for link in peeled.stubborn[: limits.MOST_SHOWN_STUBBORN]
        )
        more = (
            f" and {len(peeled.stubborn) - limits.MOST_SHOWN_STUBBORN} more"
            if len(peeled.stubborn) > limits.MOST_SHOWN_STUBBORN
            else ""
        )
        texts.append(f"not neutralised: {places}{more}; what these hide is not known")
    if peeled.problem:
        texts.append(f"the last run ended early, so more may be hidden: {peeled.problem}")
    elif not peeled.complete and not peeled.stubborn:
        texts.append(
            "the last run still showed something new: more may be hidden; --peel-rounds allows more runs"
        )
    if peeled.differs:
        texts.append(
            f"with breaks neutralised the first output differs from eager's {peeled.differs}: "
            "the program may have gone another way there"
        )
    return texts
