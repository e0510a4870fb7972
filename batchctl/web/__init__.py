"""The console: the night in a browser. A face beside the command line, over the same operations."""
