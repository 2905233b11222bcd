"""What the text format shows of --fake, --peel, --prove, --radar and `trace --compile`."""
