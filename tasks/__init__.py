"""What touches the world: files, warehouses, validation suites, versions, lineage.

Each function also runs without Prefect.
"""
