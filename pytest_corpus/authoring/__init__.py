"""Tools for authors of schemas and goldens: schema files as a tree, their lint (`lint/`), and golden files
(`goldens/`).
"""
