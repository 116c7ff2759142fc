"""The log of a run in progress: a Redis Stream with ids `<attempt>-<seq>`.

Numbers go up by one across attempts, and one script writes and announces at once:
when a newer attempt has written, an older one is refused and nobody hears it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
from channels.layers import get_channel_layer
from channels_redis.pubsub import RedisPubSubChannelLayer
from django.conf import settings
from django.utils import timezone
from redis.exceptions import RedisError

from chat.events.address import RunAddress
from chat.events.redis import redis
from chat.events.vocabulary import Event

REFUSED = -1
FAILED = -2
# The largest part of a stream id.
_LARGEST = 2**64 - 1


class Entry(NamedTuple):
    """One event of the log; `data` is its JSON."""

    seq: int
    attempt: int
    data: bytes


# Numbered by the writer, for many logs at once. KEYS: the logs. ARGV: their length, and
# in msgpack for each log: attempt, seconds to live, channel, message, first number,
# events. The answer for each: 1, REFUSED or FAILED. Repeated, it writes nothing twice.
APPEND = """
local answers = {}
for i, log in ipairs(cmsgpack.unpack(ARGV[2])) do
  local key, attempt, first, events = KEYS[i], log[1], log[5], log[6]
  local top = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)
  local seen, answer = 0, 1
  if top[1] then
    local theirs, seq = string.match(top[1][1], '(%d+)-(%d+)')
    if tonumber(theirs) > attempt then answer = -1 end
    seen = tonumber(seq)
  end
  for j = 1, #events do
    local seq = first + j - 1
    if answer == 1 and seq > seen then
      local done = redis.pcall('XADD', key, 'MAXLEN', '~', ARGV[1],
                               string.format('%.0f-%.0f', attempt, seq),
                               'e', events[j])
      if type(done) == 'table' and done.err then answer = -2 end
    end
  end
  if answer == 1 then
    redis.call('EXPIRE', key, log[2])
    redis.call('PUBLISH', log[3], log[4])
  end
  answers[i] = answer
end
return answers
"""

# Numbered by the script, after whatever was written last. ARGV: attempt, length,
# seconds to live, channel, message, lowest number, then events without their number.
# Where the log was lost, numbers jump beyond any cursor that it may have given out.
CONTINUE = """
local top = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local seq = tonumber(ARGV[6])
if top[1] then
  local attempt, last = string.match(top[1][1], '(%d+)-(%d+)')
  if tonumber(attempt) > tonumber(ARGV[1]) then return -1 end
  if tonumber(last) > seq then seq = tonumber(last) end
elseif seq > 0 then
  seq = seq + 10000
end
for i = 7, #ARGV do
  seq = seq + 1
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], ARGV[1] .. '-' .. seq,
             'e', '{"seq":' .. seq .. ',' .. ARGV[i])
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('PUBLISH', ARGV[4], ARGV[5])
return seq
"""


def wire(group: str, message: dict[str, Any]) -> tuple[str, bytes]:
    """Channel and bytes that make this message arrive at the group's members.

    The layer's own `group_send` waits for a round trip each; written by the script
    above, all runs of a worker share one. A test holds it against the real layer.
    """
    layer = get_channel_layer()
    assert isinstance(layer, RedisPubSubChannelLayer)
    return layer._get_group_channel_name(group), layer.serialize(message)


def time_to_live(*, is_over: bool) -> int:
    grace: int = settings.EVENT_LOG_GRACE
    return grace if is_over else grace + int(settings.RUN_TIME_LIMIT) * 2


async def continue_log(
    address: RunAddress,
    attempt: int,
    events: Sequence[Event],
    *,
    floor: int = 0,
    is_over: bool = False,
) -> int:
    """Append after whatever was written last; the number of the last event written.

    REFUSED when a newer attempt owns the log.
    """
    head = {
        **address.head(),
        "attempt": attempt,
        "timestamp": timezone.now().isoformat(),
    }
    tails = [
        orjson.dumps({"type": event.type, **head, **event.fields()})[1:]
        for event in events
    ]
    channel, poke = wire(address.group, {"type": "run.poke"})
    seq: int = await redis().eval(
        CONTINUE,
        1,
        address.key,
        attempt,
        settings.EVENT_LOG_LENGTH,
        time_to_live(is_over=is_over),
        channel,
        poke,
        floor,
        *tails,
    )
    return seq


async def read_log(address: RunAddress, after: int, count: int = 1000) -> list[Entry]:
    """Entries with a number above `after`, oldest first; gaps are for the caller."""
    # Ids sort by attempt first, so the number alone is no position: an entry is
    # looked for from the end in the rare log of several attempts.
    newest = _entries(await redis().xrevrange(address.key, count=1))
    if not newest:
        return []
    top = newest[0]
    if top.seq <= after:
        return []
    for attempt in range(top.attempt, -1, -1):
        first = _entries(
            await redis().xrange(
                address.key, min=f"{attempt}-0", max=f"{attempt}-{_LARGEST}", count=1
            )
        )
        if first and (first[0].seq <= after + 1 or attempt == 0):
            start = f"{attempt}-{after + 1}"
            break
    else:
        start = "-"
    rows = _entries(await redis().xrange(address.key, min=start, count=count))
    return [entry for entry in rows if entry.seq > after]


async def log_exists(address: RunAddress) -> bool:
    """False once it has expired or was lost."""
    try:
        return bool(await redis().exists(address.key))
    except (RedisError, OSError):
        return False


async def read_newest(address: RunAddress, count: int = 100) -> list[Entry]:
    """The unbroken end of the log, oldest first."""
    entries: list[Entry] = []
    for entry in _entries(await redis().xrevrange(address.key, count=count)):
        if entries and entry.seq != entries[-1].seq - 1:
            break
        entries.append(entry)
    return entries[::-1]


def _entries(rows: Any) -> list[Entry]:
    """What redis-py returns for a range, whose types it leaves open."""
    entries = []
    for stream_id, fields in rows or []:
        attempt, _, seq = stream_id.partition(b"-")
        entries.append(Entry(int(seq), int(attempt), fields[b"e"]))
    return entries
