"""What Dynamo would trace, and with which arguments it is entered."""
