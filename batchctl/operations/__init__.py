"""What people do and look at: the verbs and read models behind the command line, and behind any other face."""
