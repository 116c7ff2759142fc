"""The example database: the network gear of a small campus shop, always the same."""

import contextlib
import datetime
import os
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from chat.datasources.address import SQLITE, parse_address
from chat.datasources.errors import SourceRefused
from chat.datasources.models import DataSource
from chat.datasources.ownership import examples_folder

SLUG = "inventory"
_FILE = "inventory.sqlite"
_VERSION = 1
_SEED = 20260105
_LAST_DAY = datetime.date(2026, 6, 30)
_DAYS = 540
_ORDERS = 320

_TABLES = """
CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE suppliers (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL,
    lead_days INTEGER NOT NULL
);
CREATE TABLE locations (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, building TEXT NOT NULL
);
CREATE TABLE products (
    id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    category_id INTEGER NOT NULL REFERENCES categories (id),
    supplier_id INTEGER NOT NULL REFERENCES suppliers (id),
    ports INTEGER, price NUMERIC NOT NULL, discontinued INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE stock (
    product_id INTEGER NOT NULL REFERENCES products (id),
    location_id INTEGER NOT NULL REFERENCES locations (id),
    quantity INTEGER NOT NULL, counted_on TEXT NOT NULL,
    PRIMARY KEY (product_id, location_id)
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer TEXT NOT NULL, ordered_on TEXT NOT NULL,
    status TEXT NOT NULL
);
CREATE TABLE order_lines (
    order_id INTEGER NOT NULL REFERENCES orders (id), line INTEGER NOT NULL,
    product_id INTEGER NOT NULL REFERENCES products (id),
    quantity INTEGER NOT NULL, unit_price NUMERIC NOT NULL,
    PRIMARY KEY (order_id, line)
);
"""
NOTES = """\
{
  "": "Prices are in euros without tax. Stock is what was counted last, per location.",
  "products.sku": "article number",
  "products.ports": "number of network ports; empty where there are none",
  "products.discontinued": "1: sold off, not ordered any more",
  "stock.quantity": "pieces in stock",
  "stock.counted_on": "day of the last count, YYYY-MM-DD",
  "suppliers.lead_days": "days from order to delivery",
  "orders.customer": "department that ordered",
  "orders.status": "open, shipped or cancelled",
  "order_lines.unit_price": "price per piece at that time"
}
"""
_SUPPLIERS = (
    ("Nordkabel", "Hamburg", 3), ("Packet & Sons", "Dublin", 9),
    ("Linkwerk", "Vienna", 5), ("Ostara Networks", "Brno", 7),
    ("Silverbit", "Rotterdam", 4), ("Glasfaser Huber", "Graz", 12),
    ("Tiber Systems", "Rome", 14), ("Blue Rack", "Aarhus", 6),
)  # fmt: skip
_LOCATIONS = (
    ("Main store", "A"), ("Lab 1", "B"), ("Lab 2", "B"), ("Server room", "C"),
    ("Library desk", "D"), ("Dormitory", "E"), ("Repair bench", "A"),
)  # fmt: skip
# Category: series, port counts (0: none), cheapest and dearest price.
_RANGE: dict[str, tuple[tuple[str, ...], tuple[int, ...], int, int]] = {
    "Switch": (("Aster", "Brook", "Cedar", "Delta"), (8, 16, 24, 48), 79, 2400),
    "Router": (("Ferry", "Gate", "Harbour"), (4, 8), 149, 3900),
    "Access point": (("Halo", "Nimbus", "Wisp"), (1, 2), 59, 690),
    "Firewall": (("Bastion", "Moat"), (4, 8), 390, 5200),
    "Transceiver": (("Beam SR", "Beam LR", "Beam T"), (1,), 19, 420),
    "Cable": (("Cat6 1 m", "Cat6 3 m", "Cat6 10 m", "Fibre 3 m"), (0,), 2, 39),
    "Rack": (("Frame 12U", "Frame 24U", "Shelf"), (0,), 45, 890),
    "Phone": (("Echo", "Parley"), (2,), 69, 310),
    "Power": (("Rail 8", "Guard 1500", "Guard 3000"), (0,), 35, 1450),
}  # fmt: skip
_CUSTOMERS = (
    "Physics", "Chemistry", "Library", "Computer science", "Administration",
    "Dormitory", "Sports", "Music", "Workshop",
)  # fmt: skip


def ensure_example() -> None:
    """Write the file where it is missing or old, and register it once."""
    path = examples_folder() / _FILE
    if not _is_current(path):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_example(path)
    url = f"sqlite:///{quote(str(path))}"
    source, is_new = DataSource.objects.get_or_create(
        slug=SLUG,
        defaults={
            "title": "Inventory (example)",
            "description": "Network gear of a small campus shop: products, stock per "
            "location, prices, suppliers and orders. Invented.",
            "url": url,
            "engine": SQLITE,
            "notes": NOTES,
        },
    )
    if not is_new and _is_moved(source.url, url):
        source.url = url
        source.save(update_fields=["url", "updated_at"])


def write_example(path: Path) -> None:
    """Whole or not at all."""
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(fresh)) as connection, connection:
        connection.executescript(_TABLES)
        for table, rows in _rows(random.Random(_SEED)):
            for row in rows:
                places = ", ".join("?" for _ in row)
                connection.execute(f"INSERT INTO {table} VALUES ({places})", row)
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    os.replace(fresh, path)


Row = tuple[int | str | float | None, ...]


def _rows(chance: random.Random) -> Iterator[tuple[str, list[Row]]]:
    yield "categories", [(n, name) for n, name in enumerate(_RANGE, 1)]
    yield "suppliers", [(n, *each) for n, each in enumerate(_SUPPLIERS, 1)]
    yield "locations", [(n, *each) for n, each in enumerate(_LOCATIONS, 1)]
    products = _products(chance)
    yield "products", products
    yield "stock", _stock(chance, products)
    orders = _orders(chance)
    yield "orders", orders
    yield "order_lines", _lines(chance, orders, products)


def _products(chance: random.Random) -> list[Row]:
    rows: list[Row] = []
    for category, (name, (series, ports, low, high)) in enumerate(_RANGE.items(), 1):
        for model in series:
            for count in ports:
                share = (count / max(ports)) if count else chance.random()
                price = low + (high - low) * share * chance.uniform(0.4, 1.0)
                label = f"{name} {model}" + (f" {count}-port" if count > 2 else "")
                number = len(rows) + 1
                sku = f"{name[:2].upper()}-{number:04d}"
                supplier = chance.randint(1, len(_SUPPLIERS))
                gone = int(chance.random() < 0.08)
                rows.append(
                    (number, sku, label, category, supplier, count or None)
                    + (round(price, 2), gone)
                )
    return rows


def _stock(chance: random.Random, products: list[Row]) -> list[Row]:
    rows: list[Row] = []
    for product in products:
        for location in range(1, len(_LOCATIONS) + 1):
            if location > 1 and chance.random() < 0.45:
                continue
            many = 120 if product[5] is None else 14
            quantity = chance.randint(0, many if location == 1 else many // 3)
            day = _LAST_DAY - datetime.timedelta(days=chance.randint(0, 60))
            rows.append((product[0], location, quantity, day.isoformat()))
    return rows


def _orders(chance: random.Random) -> list[Row]:
    days = sorted(chance.randint(0, _DAYS) for _ in range(_ORDERS))
    rows: list[Row] = []
    for number, before in enumerate(reversed(days), 1):
        day = _LAST_DAY - datetime.timedelta(days=before)
        late = "open" if before < 21 else "shipped"
        status = "cancelled" if chance.random() < 0.06 else late
        rows.append((number, chance.choice(_CUSTOMERS), day.isoformat(), status))
    return rows


def _lines(chance: random.Random, orders: list[Row], products: list[Row]) -> list[Row]:
    rows: list[Row] = []
    for order in orders:
        chosen = chance.sample(products, chance.randint(1, 5))
        for line, product in enumerate(chosen, 1):
            quantity = chance.randint(1, 40 if product[5] is None else 6)
            price = round(float(product[6] or 0) * chance.uniform(0.9, 1.0), 2)
            rows.append((order[0], line, product[0], quantity, price))
    return rows


def _is_current(path: Path) -> bool:
    try:
        address = f"file:{quote(str(path))}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            found = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error:
        return False
    return bool(found == (_VERSION,))


def _is_moved(stored: str, url: str) -> bool:
    """Ours, but of a data folder that stands elsewhere now."""
    if stored == url:
        return False
    try:
        path = parse_address(stored).path
    except SourceRefused:
        return False
    return path is not None and path.parts[-2:] == ("examples", _FILE)
