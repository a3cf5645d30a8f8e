"""The Corpus Protocol v1.0 as tables: operations, errors, capabilities, schemas and requirements.

Nothing here performs I/O or imports pytest or a schema library.
"""
