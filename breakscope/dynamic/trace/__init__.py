"""From bytes to records: Dynamo's structured trace and its text log, in every version's dialect."""
