"""Starts and stops the simulated lab's server."""

from __future__ import annotations

import errno
from dataclasses import dataclass

from aiohttp import web

from projects.demolab.api import application
from projects.demolab.lab import Config, Lab


class PortInUse(Exception):
    """The address to serve on is taken."""


@dataclass
class RunningLab:
    """A lab that answers at `url`, until it is stopped."""

    lab: Lab
    url: str
    _runner: web.AppRunner

    async def stop(self) -> None:
        await self._runner.cleanup()
        await self.lab.stop()


async def serve(config: Config) -> RunningLab:
    """Bring a lab up; raises PortInUse."""
    lab = Lab(config)
    runner = web.AppRunner(application(lab), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    # The port first: a second start must not touch the stored lab.
    site = web.TCPSite(runner, config.host, config.port)
    try:
        await site.start()
    except OSError as exc:
        await runner.cleanup()
        if exc.errno in (errno.EADDRINUSE, errno.EACCES):
            raise PortInUse(f"{config.host}:{config.port}") from exc
        raise
    try:
        await lab.start()
    except BaseException:
        await runner.cleanup()
        raise
    port = runner.addresses[0][1]
    host = f"[{config.host}]" if ":" in config.host else config.host
    return RunningLab(lab, f"http://{host}:{port}", runner)
