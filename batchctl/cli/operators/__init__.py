"""What people ask for: requests, freezes, releases."""
