"""What people have to know of: incidents, alerts, what is late."""
