"""What the operating system has, and what this host sees of others."""
