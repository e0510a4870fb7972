-- A copy of the whole database, named after the moment. VACUUM runs alone: it is the only statement of its job.
VACUUM INTO 'backup_' || strftime('%Y-%m-%d_%H%M%S', 'now') || '.db'
