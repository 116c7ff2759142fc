"""Which of a person's sessions have the words that they look for.

Words match at their beginning, all of them in the title or in one message. What is
typed is never read as a query language.
"""

import re
from functools import reduce
from operator import and_

from django.db import connection
from django.db.models import Q
from django.db.models.expressions import RawSQL

from chat.models import Message
from chat.models.session import ChatSessionQuerySet
from chat.search_index import POSTGRES_SIGNS, POSTGRES_VECTOR

_MOST_TERMS = 10
# Written without spaces between words: an index of words does not find their parts.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
_SQLITE_FOUND = (
    "SELECT message_id FROM chat_search_row WHERE id IN "
    "(SELECT rowid FROM chat_search WHERE chat_search MATCH %s)"
)
# `a b c` becomes `a <-> b <-> c:*`: neighbours, the last one by its beginning.
_POSTGRES_FOUND = (
    f"SELECT id FROM chat_message WHERE {POSTGRES_VECTOR} @@ to_tsquery('simple', "
    f"nullif(replace(btrim(regexp_replace(%s, '{POSTGRES_SIGNS}', ' ', 'g')), "
    "' ', ' <-> '), '') || ':*')"
)


def matching(sessions: ChatSessionQuerySet, text: str) -> ChatSessionQuerySet:
    """Those whose title, or one of whose messages, has all the words."""
    terms = text.split()[:_MOST_TERMS]
    if not terms:
        return sessions
    in_title = reduce(and_, (_in_title(term) for term in terms))
    in_message = reduce(and_, (_in_message(term) for term in terms))
    # Narrowed to these sessions first: whatever else matches is nobody's business.
    found = Message.objects.filter(
        in_message, session__in=sessions.order_by().values("pk")
    )
    return sessions.filter(in_title | Q(pk__in=found.values("session")))


def _in_title(term: str) -> Q:
    # SQLite compares other than ASCII letters as they are.
    spellings = {term, term.lower(), term.upper(), term.capitalize()}
    either = Q()
    for spelling in spellings:
        either |= Q(title__icontains=spelling)
    return either


def _in_message(term: str) -> Q:
    has_words = any(character.isalnum() for character in term)
    if _UNSPACED.search(term) or not has_words:
        return Q(content__icontains=term)
    if connection.vendor == "sqlite":
        # A quoted string is a phrase; nothing in it has a meaning of its own.
        phrase = '"{}"*'.format(term.replace('"', '""'))
        return Q(pk__in=RawSQL(_SQLITE_FOUND, [phrase]))
    return Q(pk__in=RawSQL(_POSTGRES_FOUND, [term]))
