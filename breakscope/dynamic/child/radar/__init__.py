"""The radar's child: the target is called with what training will vary, one kind of variation after
the other."""
