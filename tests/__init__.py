"""Folders mirror the rooms of layadesk/; `fakes` holds small working stand-ins; names of tests are sentences."""
