"""Full-text search over titles and messages, in SQLite's own index of letter triples.

Triples find any part of a word, so Chinese, which has no spaces, is found as well. Terms of one or two letters, as
many Chinese words are, have no triple: for them the texts themselves are looked through.
"""

import sqlite3

from layadesk.domain.inference import Role
from layadesk.domain.search import SearchHit, excerpt, terms_of
from layadesk.store.queries import Found

TRIPLE = 3

_TITLES = "SELECT conversation_id, title, updated_at FROM conversation WHERE deleted_at IS NULL AND title <> ''"
_MESSAGES = """
    SELECT conversation_id, title, message.created_at, message_search.text, message_id, role
    FROM message_search
    JOIN search_key ON key = message_search.rowid
    JOIN message USING (message_id)
    JOIN conversation USING (conversation_id)
    WHERE deleted_at IS NULL
"""


def search(connection: sqlite3.Connection, query: str, limit: int) -> Found[tuple[SearchHit, ...]]:
    """Titles first, then messages, each the newest first; at most `limit` of both together."""
    terms = terms_of(query)
    if not terms:
        return Found((), frozenset())
    hits = _titles(connection, terms)
    sql, values = _MESSAGES, []
    long = [term for term in terms if len(term) >= TRIPLE]
    if long:
        sql += " AND message_search MATCH ?"
        values.append(" ".join('"' + term.replace('"', '""') + '"' for term in long))
    for term in terms:
        if len(term) < TRIPLE:
            sql += r" AND message_search.text LIKE ? ESCAPE '\'"
            values.append("%" + term.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_") + "%")
    rows = connection.execute(f"{sql} ORDER BY message.created_at DESC LIMIT ?", (*values, limit))
    for conversation_id, title, created_at, text, message_id, role in rows:
        shown, spans = excerpt(str(text), terms)
        who = Role(role) if role in set(Role) else Role.ASSISTANT
        hits.append(SearchHit(conversation_id, title, float(created_at), shown, spans, message_id, who))
    return Found(tuple(hits[:limit]), frozenset())


def _titles(connection: sqlite3.Connection, terms: tuple[str, ...]) -> list[SearchHit]:
    hits = []
    for conversation_id, title, updated_at in connection.execute(f"{_TITLES} ORDER BY updated_at DESC"):
        folded = str(title).casefold()
        if all(term in folded for term in terms):
            shown, spans = excerpt(str(title), terms)
            hits.append(SearchHit(conversation_id, str(title), float(updated_at), shown, spans))
    return hits
