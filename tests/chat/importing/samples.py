"""Files as GNS3's Copilot writes them, of any version."""

import json
import sqlite3
import uuid
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from langchain_core.load import dumps
from langchain_core.messages import AnyMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

REAL = Path("tests/import_samples/copilot_checkpoints_3.1.0a7.db")
REAL_THREAD = "8cd3b2ca-38d6-46d0-9f14-eb8e871645e2"
REAL_USER = "78310d38-064f-4796-8c67-71c022632bd7"
SOURCE_USER = "99999999-9999-4999-8999-999999999999"

_SESSIONS = """
CREATE TABLE chat_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT UNIQUE NOT NULL,
  user_id TEXT NOT NULL, project_id TEXT NOT NULL, title TEXT,
  message_count INTEGER DEFAULT 0, llm_calls_count INTEGER DEFAULT 0,
  input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0,
  total_tokens INTEGER DEFAULT 0, last_message_at TIMESTAMP,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  metadata TEXT DEFAULT '{}', stats TEXT DEFAULT '{}'
"""
_CHECKPOINTS = """
CREATE TABLE checkpoints (thread_id TEXT NOT NULL,
  checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
  parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '',
  checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL, idx INTEGER NOT NULL,
  channel TEXT NOT NULL, type TEXT, value BLOB,
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
"""


class Sample:
    """A file under construction."""

    def __init__(self, path: Path, *, has_pinned: bool = True) -> None:
        self.path = path
        self._steps = 0
        with closing(sqlite3.connect(path)) as connection:
            pinned = ", pinned BOOLEAN DEFAULT FALSE" if has_pinned else ""
            connection.executescript(f"{_SESSIONS}{pinned});{_CHECKPOINTS}")

    def session(self, thread_id: str | None = None, **columns: Any) -> str:
        thread_id = thread_id or str(uuid.uuid4())
        row = {
            "thread_id": thread_id,
            "user_id": SOURCE_USER,
            "project_id": str(uuid.uuid4()),
            "title": "A title",
            **columns,
        }
        marks = ",".join("?" * len(row))
        self.run(
            f"INSERT INTO chat_sessions ({','.join(row)}) VALUES ({marks})",
            list(row.values()),
        )
        return thread_id

    def checkpoint(
        self, thread_id: str, messages: Sequence[Any], *, kind: str = "msgpack"
    ) -> str:
        state = {
            "v": 4,
            "ts": "2026-05-04T10:00:00+00:00",
            "id": "x",
            "channel_values": {"messages": list(messages), "llm_calls": 1},
        }
        stored: bytes | str
        if kind == "json":
            stored = dumps(state)
        else:
            kind, stored = JsonPlusSerializer().dumps_typed(state)
        return self.raw_checkpoint(thread_id, kind, stored)

    def raw_checkpoint(
        self, thread_id: str, kind: str | None, stored: bytes | str, namespace: str = ""
    ) -> str:
        self._steps += 1
        key = f"1f1ecb74-{self._steps:04}-6827-bfff-f2f0b47cc1b9"
        self.run(
            "INSERT INTO checkpoints VALUES (?,?,?,NULL,?,?,?)",
            [
                *(thread_id, namespace, key, kind, stored),
                json.dumps({"user_id": SOURCE_USER}).encode(),
            ],
        )
        return key

    def write(self, thread_id: str, checkpoint_id: str, messages: list[Any]) -> None:
        self._steps += 1
        kind, value = JsonPlusSerializer().dumps_typed(messages)
        self.run(
            "INSERT INTO writes VALUES (?,'',?,?,0,'messages',?,?)",
            [thread_id, checkpoint_id, f"task-{self._steps}", kind, value],
        )

    def thread(self, *messages: AnyMessage, **columns: Any) -> str:
        thread_id = self.session(**columns)
        self.checkpoint(thread_id, messages)
        return thread_id

    def run(self, query: str, values: list[Any]) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute(query, values)
