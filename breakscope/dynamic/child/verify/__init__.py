"""What a target does, recorded call by call, and compared with what another form of it did."""
