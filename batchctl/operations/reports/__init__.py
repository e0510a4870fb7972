"""What people read about all of it together: what is due, what is late, how long steps take."""
