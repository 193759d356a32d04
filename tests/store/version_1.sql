-- The database as version 1 made it. Frozen: later versions are tested from it.
CREATE TABLE conversation (
    conversation_id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    leaf_id TEXT,
    expert_id TEXT,
    draft TEXT NOT NULL DEFAULT '',
    deleted_at REAL
);
CREATE TABLE message (
    message_id TEXT NOT NULL PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES conversation (conversation_id) ON DELETE CASCADE,
    parent_id TEXT,
    role TEXT NOT NULL,
    text TEXT NOT NULL,
    created_at REAL NOT NULL,
    status TEXT NOT NULL,
    expert_id TEXT,
    route TEXT,
    finish_reason TEXT,
    timings TEXT,
    memory TEXT,
    n_dropped INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    n_decoded INTEGER NOT NULL DEFAULT 0,
    session_id TEXT
);
CREATE INDEX message_conversation ON message (conversation_id);
CREATE INDEX message_streaming ON message (status) WHERE status = 'streaming';
INSERT INTO conversation VALUES ('c1', '排序', 1750000000.0, 1750000009.0, 'a2', 'coder', 'and in Go?', NULL);
INSERT INTO conversation VALUES ('c2', 'gone', 1750000000.0, 1750000001.0, NULL, NULL, '', 1750000005.0);
INSERT INTO message VALUES ('q1', 'c1', NULL, 'user', 'Sort this 🎉', 1750000001.0, 'complete', NULL, NULL, NULL, NULL,
    NULL, 0, NULL, 0, NULL);
INSERT INTO message VALUES ('a1', 'c1', 'q1', 'assistant', 'Use sorted.', 1750000002.0, 'complete', 'coder',
    '{"expert":"coder","reason":"pinned","ranking":[{"model_id":"coder","utility":null,"out":null}],"route_ms":0.2}',
    'stop', '{"ttft_ms":12.5,"n_prompt":10,"n_decoded":4}', '{"weights_bytes":1000}', 2, NULL, 4, NULL);
INSERT INTO message VALUES ('a2', 'c1', 'q1', 'assistant', 'Use sor', 1750000009.0, 'failed', 'coder', NULL, 'error',
    NULL, NULL, 0, '{"code":"engine_died","facts":{"exit":"killed"}}', 2, NULL);
INSERT INTO message VALUES ('a3', 'c1', 'q1', 'assistant', 'Unfini', 1750000008.0, 'streaming', 'coder', NULL, NULL,
    NULL, NULL, 0, NULL, 1, 'a-session-that-is-gone');
PRAGMA user_version = 1;
