"""Preparations and expectations that several tests share. A preparation that fails raises the test's outcome."""
