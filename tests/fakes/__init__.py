"""Small working classes that stand in for the real ones; folders and names mirror the rooms."""
