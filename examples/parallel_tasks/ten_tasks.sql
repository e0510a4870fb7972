-- Ten tasks of three seconds each. They are the same, and no duplicates of each other.
-- A task for a connection names it: INSERT INTO FileProcess (Entity, FileName, Data) VALUES ('Task', 'warehouse', 'SELECT 1');

INSERT INTO FileProcess (Entity, Data) VALUES
    ('Task', 'sleep 3'), ('Task', 'sleep 3'), ('Task', 'sleep 3'), ('Task', 'sleep 3'), ('Task', 'sleep 3'),
    ('Task', 'sleep 3'), ('Task', 'sleep 3'), ('Task', 'sleep 3'), ('Task', 'sleep 3'), ('Task', 'sleep 3');
