"""`breakscope bench`: one child process for each mode, measured in turns.

`bench_target` starts the workers (`worker`), lets each compile and warm up, has them step in turns
(`turns`), charges the compile time (`charges`), compares the step times (`statistics`) and decides
what to use (`decide`).
"""
