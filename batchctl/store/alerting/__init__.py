"""What people are told: incidents, alerts, what is late."""
