"""Steps carried by agents, as a controller sees them: on hosts without a login to its database."""
