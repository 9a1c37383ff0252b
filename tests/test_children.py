"""Processes that tests start: Ctrl-C reaches them, and nothing of them is left."""

import os
import signal
import sys

import pytest

from tests.children import children

SLEEPS = "import time\nprint('on', flush=True)\ntime.sleep(60)\n"
PARENT = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {SLEEPS!r}])\n"
posix = pytest.mark.skipif(os.name == "nt", reason="signals are others there")


@posix
def test_ctrl_c_reaches_a_process_where_it_is_ignored_here(start):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = start([sys.executable, "-c", SLEEPS])
        assert process.stdout.readline() == b"on\n"
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[1].endswith(b"KeyboardInterrupt\n")


@posix
def test_what_a_process_has_started_ends_with_it():
    with children() as start:
        process = start([sys.executable, "-c", PARENT])
        assert process.stdout.readline() == b"on\n"
        output = os.dup(process.stdout.fileno())
    assert process.returncode == -signal.SIGKILL
    with open(output, "rb") as left:  # ends where nobody is left who could write
        assert left.read() == b""
