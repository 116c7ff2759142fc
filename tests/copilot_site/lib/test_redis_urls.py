import pytest
import redis
from kombu import Connection

from copilot_site.lib.redis_urls import for_celery, with_database
from tests.conftest import Valkey


@pytest.mark.parametrize(
    ("url", "shifted"),
    [
        ("redis://h:6379", "redis://h:6379/1"),
        ("redis://h:6379/0", "redis://h:6379/1"),
        ("redis://:pa%2Fss@h:6379/3", "redis://:pa%2Fss@h:6379/4"),
        ("rediss://u:p@h/2?ssl_cert_reqs=none", "rediss://u:p@h/3?ssl_cert_reqs=none"),
        ("unix:///run/v.sock", "unix:///run/v.sock?db=1"),
        ("unix:///run/v.sock?db=2", "unix:///run/v.sock?db=3"),
        ("unix:///r/v.sock?db=0&password=p", "unix:///r/v.sock?db=1&password=p"),
    ],
)
def test_the_next_database_of_the_same_server(url: str, shifted: str) -> None:
    assert with_database(url, 1) == shifted


@pytest.mark.parametrize("url", ["redis://h:6379/3", "unix:///run/v.sock?db=3"])
def test_redis_py_reads_the_database_that_we_mean(url: str) -> None:
    pool = redis.ConnectionPool.from_url(with_database(url, 2))

    assert pool.connection_kwargs["db"] == 5


@pytest.mark.needs("valkey", "celery")
def test_celery_writes_to_that_database_over_the_socket(valkey: Valkey) -> None:
    url = for_celery(f"unix://{valkey.socket}?db=4")

    with Connection(url) as connection:
        queue = connection.SimpleQueue("probe-of-the-address")
        queue.put("message")
        queue.close()

    with redis.Redis(unix_socket_path=str(valkey.socket), db=4) as client:
        assert client.llen("probe-of-the-address") == 1


def test_other_addresses_are_celerys_own() -> None:
    assert for_celery("redis://h:6379/1") == "redis://h:6379/1"
