"""make run: checks, embedded Valkey, database, then the processes of Procfile."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.launcher import (
    checks,
    config,
    data_dir,
    processes,
    procfile,
    ready,
    valkey,
)
from scripts.launcher.config import Config
from scripts.launcher.errors import LaunchError
from scripts.launcher.output import Output, say
from scripts.launcher.supervisor import Supervisor

ROOT = Path(__file__).resolve().parent.parent
# Together below the ten seconds that a person is promised.
SERVICE_GRACE = 6.0
VALKEY_GRACE = 2.5
# make, timeout and systemd pass a signal on, so that one wish may arrive twice.
SAME_SIGNAL_SECONDS = 0.5


def main() -> int:
    try:
        chosen = Config.from_environ(os.environ, ROOT)
        return start(chosen, os.environ, prepare=["python", "-m", "scripts.prepare"])
    except LaunchError as exc:
        print(f"copilot: {exc}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def start(chosen: Config, environ: Mapping[str, str], prepare: Sequence[str]) -> int:
    """Everything that can be said at once is checked before anything starts."""
    os.umask(0o077)
    data_dir.prepare(chosen.data_dir)
    with data_dir.lock(chosen.data_dir):
        checks.check_port(chosen.host, chosen.port)
        data_dir.check_keys(chosen.data_dir, environ)
        checks.check_database(chosen.database_url)
        checks.check_redis(chosen.redis_url)
        socket = None if chosen.redis_url else valkey.socket_path(chosen.data_dir)
        told = config.children_environ(
            chosen,
            environ,
            redis_url=f"unix://{socket}" if socket else chosen.redis_url,
            lab_port=checks.free_lab_port() if chosen.has_lab else 0,
            lab_password=data_dir.lab_password(chosen.data_dir),
            executables=Path(sys.executable).parent,
        )
        asyncio.run(run_until_told(chosen, told, prepare, socket))
    say("Copilot has ended.")
    return 0


async def run_until_told(
    chosen: Config, told: Mapping[str, str], prepare: Sequence[str], socket: Path | None
) -> None:
    """Ctrl-C, SIGTERM and SIGHUP end it in order; a second one at once."""
    supervisors: list[Supervisor] = []
    serving = asyncio.create_task(
        serve(chosen, told, prepare, socket, supervisors), name="serving"
    )
    loop = asyncio.get_running_loop()
    ending_since: float | None = None

    def end() -> None:
        nonlocal ending_since
        if ending_since is None:
            ending_since = loop.time()
            serving.cancel()
        elif loop.time() - ending_since > SAME_SIGNAL_SECONDS:
            for supervisor in supervisors:
                supervisor.kill()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end)
    try:
        await serving
    except asyncio.CancelledError:
        if ending_since is None:
            raise


async def serve(
    chosen: Config,
    told: Mapping[str, str],
    prepare: Sequence[str],
    socket: Path | None,
    supervisors: list[Supervisor],
) -> None:
    """Valkey outlives the services, which need it to end well."""
    logs = chosen.data_dir / "logs"
    logs.mkdir(exist_ok=True)
    lasting = config.without_first_passwords(told)
    base = Supervisor(environ=lasting, cwd=ROOT, logs=logs, grace=VALKEY_GRACE)
    services = Supervisor(environ=lasting, cwd=ROOT, logs=logs, grace=SERVICE_GRACE)
    supervisors += [base, services]
    async with base, services:
        if socket:
            folder = chosen.data_dir / "valkey"
            argv = valkey.arguments(valkey.find_server(), socket, folder)
            store = base.start("valkey", argv, is_shown=False)
            await valkey.wait_until_ready(store, socket)
        say("Preparing the database ...")
        await run_once(prepare, environ=told, logs=logs)
        for name, command in procfile.read(chosen.root / "Procfile").items():
            if name != "lab" or chosen.has_lab:
                services.start(name, procfile.arguments(command, told))
        say(f"Starting {', '.join(child.name for child in services.children)} ...")
        await ready.wait_until_ready(chosen.address, services.children)
        say(ready.box(chosen, data_dir.logins(chosen.data_dir)))
        await asyncio.Event().wait()


async def run_once(
    argv: Sequence[str], *, environ: Mapping[str, str], logs: Path
) -> None:
    output = Output("setup", logs)
    running = await processes.start(argv, environ=environ, cwd=ROOT, output=output)
    try:
        code = await running.wait()
    finally:
        await running.end(VALKEY_GRACE)
        output.close()
    if code:
        raise LaunchError(
            f"The database could not be prepared; see above or {logs / 'setup.log'}."
        )


if __name__ == "__main__":
    sys.exit(main())
