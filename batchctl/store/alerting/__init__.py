"""What is reported to people: incidents, alerts, what is late."""
