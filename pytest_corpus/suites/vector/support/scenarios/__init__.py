"""Preparations and expectations that several tests share."""
