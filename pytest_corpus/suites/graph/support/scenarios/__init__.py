"""Preparations and expectations that several tests share. If a preparation fails, it ends the test."""
