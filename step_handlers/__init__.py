"""The built-in step handlers, one per module, found through entry points like anyone else's."""
