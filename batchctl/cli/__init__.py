"""The command line: asks `app` and `operations`, shows what they answer, and decides nothing."""
