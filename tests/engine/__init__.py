"""Tests of layadesk/engine: pure parts, the loop on the scripted backend, and the same contract on llama.cpp."""
