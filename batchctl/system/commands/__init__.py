"""Operating-system commands: carried out, supervised, written down and adopted."""
