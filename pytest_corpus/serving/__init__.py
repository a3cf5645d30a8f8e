"""Serves a Python adapter over HTTP, WebSocket, gRPC or standard input and output."""
