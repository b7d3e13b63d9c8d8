"""Put a CSV file into a table of a DuckDB file, as a warehouse would have it.

    python data/examples/warehouse.py CSV DUCKDB TABLE

Nothing is written when the table already holds the same rows. Beside ``make_nhanes.py`` this is all the Python below
``data``.
"""

import sys
from pathlib import Path

import duckdb


def load(csv: Path, warehouse: Path, table: str) -> str:
    """Load ``csv`` into ``table`` unless it is there already; a sentence on what was done."""
    warehouse.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("CREATE TEMP TABLE arrived AS SELECT * FROM read_csv(?, sample_size = -1)", [str(csv)])
        name = '"' + table.replace('"', '""') + '"'
        present = connection.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = ?", [table]).fetchone()
        if present and present[0] and _same(connection, name):
            return f"{warehouse}: table {table} is up to date"
        connection.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM arrived")
        rows = connection.execute("SELECT count(*) FROM arrived").fetchone()
        return f"{warehouse}: {rows[0] if rows else 0:,} rows loaded into table {table}"


def _same(connection: duckdb.DuckDBPyConnection, name: str) -> bool:
    """Whether the table called ``name`` has the columns and rows that arrived."""
    described = [connection.execute(f"DESCRIBE {table}").fetchall() for table in (name, "arrived")]
    if described[0] != described[1]:
        return False
    differences = connection.execute(
        f"SELECT count(*) FROM ((FROM {name} EXCEPT ALL FROM arrived) UNION ALL (FROM arrived EXCEPT ALL FROM {name}))"
    ).fetchone()
    return bool(differences and differences[0] == 0)


if __name__ == "__main__":
    print(load(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
