"""What keeps an installation sound: schema, audit, retention, checks of the whole."""
