"""What the commands do: each workflow takes options, calls the analyzers and gives back one Report."""
