"""The index behind `search.py`: kept up to date by triggers, made by a migration. It holds finished messages only."""

import sqlite3

INDEX = (
    "CREATE TABLE search_key (key INTEGER PRIMARY KEY, message_id TEXT NOT NULL UNIQUE)",
    "CREATE VIRTUAL TABLE message_search USING fts5 (text, tokenize = 'trigram')",
    """
    CREATE TRIGGER search_added AFTER INSERT ON message WHEN new.status <> 'streaming' BEGIN
        INSERT INTO search_key (message_id) SELECT new.message_id
        WHERE NOT EXISTS (SELECT 1 FROM search_key WHERE message_id = new.message_id);
        DELETE FROM message_search WHERE rowid = (SELECT key FROM search_key WHERE message_id = new.message_id);
        INSERT INTO message_search (rowid, text)
        SELECT key, new.text || {attached} FROM search_key WHERE message_id = new.message_id;
    END
    """,
    """
    CREATE TRIGGER search_changed AFTER UPDATE OF text, status, attachments ON message
    WHEN new.status <> 'streaming' BEGIN
        INSERT INTO search_key (message_id) SELECT new.message_id
        WHERE NOT EXISTS (SELECT 1 FROM search_key WHERE message_id = new.message_id);
        DELETE FROM message_search WHERE rowid = (SELECT key FROM search_key WHERE message_id = new.message_id);
        INSERT INTO message_search (rowid, text)
        SELECT key, new.text || {attached} FROM search_key WHERE message_id = new.message_id;
    END
    """,
    """
    CREATE TRIGGER search_removed AFTER DELETE ON message BEGIN
        DELETE FROM message_search WHERE rowid = (SELECT key FROM search_key WHERE message_id = old.message_id);
        DELETE FROM search_key WHERE message_id = old.message_id;
    END
    """,
    "INSERT INTO search_key (message_id) SELECT message_id FROM message WHERE status <> 'streaming'",
    """
    INSERT INTO message_search (rowid, text)
    SELECT key, message.text FROM search_key JOIN message USING (message_id)
    """,
)
_ATTACHED = """
    coalesce((SELECT char(10) || group_concat(json_extract(value, '$.text'), char(10))
              FROM json_each(CASE WHEN json_valid(new.attachments) THEN new.attachments ELSE '[]' END)), '')
"""


def make_index(connection: sqlite3.Connection) -> None:
    """The tables and triggers; part of a migration."""
    for statement in INDEX:
        connection.execute(statement.replace("{attached}", _ATTACHED))
