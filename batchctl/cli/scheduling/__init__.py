"""What starts work by the clock: schedules, calendars, due times."""
