"""Runs the simulated lab, and plants faults in the running one."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import httpx
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from projects.demolab.faults import FAULTS
from projects.demolab.lab import Config
from projects.demolab.server import PortInUse, serve
from projects.models import Server

DEFAULT_URL = "http://127.0.0.1:8001"
DEFAULT_CREDENTIAL = "admin"


class Command(BaseCommand):
    help = "Run the simulated lab, or show and change the one that runs."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--serve", action="store_true", help="run the lab")
        what.add_argument("--fault", metavar="NAME", help="plant a fault (see --list)")
        what.add_argument(
            "--reset", action="store_true", help="back to the default lab"
        )
        what.add_argument("--list", action="store_true", help="list the faults")
        parser.add_argument("--seed", type=int, help="make a random lab from a number")
        parser.add_argument(
            "--reveal", action="store_true", help="show the cause as well"
        )
        parser.add_argument(
            "--url",
            help="the running lab (default: DEMOLAB_URL, or the one of make run)",
        )
        parser.add_argument("--host", default="127.0.0.1", help="address to serve on")
        parser.add_argument("--port", type=int, default=8001, help="port to serve on")
        parser.add_argument("--state", type=Path, help="file to keep the lab in")
        parser.add_argument(
            "--pace", type=float, default=0.05, help="seconds per ping packet"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            for name, fault in FAULTS.items():
                self.stdout.write(f"{name:<24} {fault.summary}")
        elif options["serve"]:
            asyncio.run(self._serve(self._config(options)))
        elif options["fault"] or options["reset"] or options["seed"] is not None:
            wanted = {"fault": options["fault"], "seed": options["seed"]}
            if options["reset"]:
                wanted = {"fault": None, "seed": None}
            truth = self._ask(options["url"], "POST", "/v3/simulator/reset", wanted)
            self._show(truth, options)
        else:
            self._show(self._ask(options["url"], "GET", "/v3/simulator"), options)

    def _config(self, options: dict[str, Any]) -> Config:
        password = os.environ.get("DEMOLAB_PASSWORD", "")
        if not password and not _is_loopback(options["host"]):
            raise CommandError(
                "Set DEMOLAB_PASSWORD to serve on an address others can reach."
            )
        return Config(
            host=options["host"],
            port=options["port"],
            username=_username(),
            password=password or DEFAULT_CREDENTIAL,
            state_path=options["state"],
            pace=max(options["pace"], 0.0),
        )

    async def _serve(self, config: Config) -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopped.set)
        try:
            running = await serve(config)
        except PortInUse as exc:
            raise CommandError(
                f"The address {exc} is already in use or not allowed.", returncode=2
            ) from exc
        try:
            self.stdout.write(f"Simulated lab ready at {running.url}")
            self.stdout.flush()
            await stopped.wait()
        finally:
            await running.stop()

    def _ask(
        self,
        url: str | None,
        method: str,
        path: str,
        data: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        url, username, password = _running_lab(url)
        login = {"username": username, "password": password}
        try:
            with httpx.Client(base_url=url, timeout=30.0) as client:
                version = client.get("/v3/version")
                if version.status_code != 200 or not version.json().get("simulated"):
                    raise CommandError(f"{url} is not a simulated lab.")
                answer = client.post("/v3/access/users/authenticate", json=login)
                if answer.status_code == 401:
                    raise CommandError(
                        "The lab refused the login: check DEMOLAB_USERNAME and "
                        "DEMOLAB_PASSWORD."
                    )
                token = answer.raise_for_status().json()["access_token"]
                headers = {"Authorization": f"Bearer {token}"}
                answer = client.request(method, path, json=data, headers=headers)
                found: dict[str, Any] = answer.json()
        except (httpx.TransportError, httpx.InvalidURL) as exc:
            raise CommandError(
                f"No simulated lab runs at {url}. Start it with: "
                "manage.py demolab --serve"
            ) from exc
        except (httpx.HTTPStatusError, ValueError) as exc:
            raise CommandError(f"{url} is not a simulated lab.") from exc
        if answer.status_code != 200:
            raise CommandError(str(found.get("message", "The lab refused.")))
        return found

    def _show(self, truth: dict[str, Any], options: dict[str, Any]) -> None:
        url, _, _ = _running_lab(options["url"])
        if not truth.get("question"):
            self.stdout.write(f"The simulated lab at {url} has no question.")
            return
        made = "the default lab" if truth["seed"] is None else f"seed {truth['seed']}"
        self.stdout.write(f"Simulated lab at {url} ({made}).")
        self.stdout.write(f"Ask: {truth['question']}")
        if options["reveal"]:
            self.stdout.write(
                f"Fault: {truth['fault']} on {truth['device'] or 'nothing'}"
            )
            self.stdout.write(f"Cause: {truth['cause']}")


def _username() -> str:
    return os.environ.get("DEMOLAB_USERNAME") or DEFAULT_CREDENTIAL


def _running_lab(url: str | None) -> tuple[str, str, str]:
    """Address and account: as given, else by the environment, else as stored."""
    password = os.environ.get("DEMOLAB_PASSWORD") or DEFAULT_CREDENTIAL
    given = url or os.environ.get("DEMOLAB_URL")
    if given:
        return given, _username(), password
    try:
        server = Server.objects.filter(is_simulated=True, is_enabled=True).first()
    except DatabaseError:
        server = None
    if server is None:
        return DEFAULT_URL, _username(), password
    return server.url, server.username, server.password


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
