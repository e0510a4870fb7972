"""What people can do from the console: the verbs of the operations, by what each is about."""
