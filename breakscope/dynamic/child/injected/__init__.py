"""What runs in programs that are not ours: it imports nothing of breakscope."""
