"""What is true: schemas, generators, joins, measures, verdicts.

No file, network, clock or global random state is touched here.
"""
