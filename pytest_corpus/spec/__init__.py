"""The Corpus Protocol v1.0 as data: operations, errors, capabilities and requirements.

Nothing here performs I/O or imports pytest or a schema library.
"""
