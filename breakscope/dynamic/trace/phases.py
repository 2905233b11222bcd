"""The phases of a run of ours, as the child process marks them in Dynamo's trace and log."""

PHASE = "breakscope_phase"  # the name of a mark; its text is the phase
# further calls behind the capture, until nothing compiles any more
AFTERWARDS = "afterwards"
SAME = "repeated steps"  # the variation of the radar in which nothing changes
