"""Trains a little with Muster, opens what it leaves in TensorBoard, and has a browser without a screen draw it.

    tensorboard_pictures.py MUSTER_PROGRAM SOURCE_FOLDER PICTURE_FOLDER

Checks what TensorBoard serves and what its pages show, and leaves scalars.png and graphs.png in PICTURE_FOLDER, to be looked
at. Exit code 77: TensorBoard or the browser (Debian's chromium) is not there.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib

import tensorflow_files

SECONDS = 120  # at most for TensorBoard to start and to load the run


class TensorBoard:
    """A server on the loopback interface, on a port of its own choice."""

    def __init__(self, python, logdir, log):
        self.log = log
        self.process = subprocess.Popen([python, "-m", "tensorboard.main", "--logdir", logdir, "--host", "127.0.0.1", "--port", "0",
                                         "--load_fast=false"], stdout=open(log, "w", encoding="utf-8"), stderr=subprocess.STDOUT)

    def __enter__(self):
        self.url = self.wait_for("its address", lambda: re.search(r"http://127\.0\.0\.1:\d+/", open(self.log, encoding="utf-8").read())).group(0)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def wait_for(self, what, look):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            found = look()
            if found:
                return found
            time.sleep(0.2)
        with open(self.log, encoding="utf-8") as log:
            raise AssertionError(f"TensorBoard did not show {what}:\n{log.read()[-2000:]}")

    def get(self, path):
        with urllib.request.urlopen(self.url + path) as reply:
            return reply.read().decode()


def check_data(board):
    """Both are there once the run is loaded."""
    tags = board.wait_for("a run", lambda: json.loads(board.get("data/plugin/scalars/tags")).get("."))
    assert {"total_loss", "learning_rate", "eval/Accuracy@1"} <= set(tags), tags
    curve = json.loads(board.get("data/plugin/scalars/scalars?run=.&tag=total_loss"))
    assert [step for _, step, _ in curve] == [4, 8, 12, 16], curve
    info = json.loads(board.get("data/plugin/graphs/info"))["."]
    assert info["run_graph"] and all(tag["profile"] for tag in info["tags"].values()), info
    graph = board.get("data/plugin/graphs/graph?run=.")
    assert "/device:CPU:0" in graph and "ApplyAdam" in graph, graph[:500]


def is_drawn(png):
    """Whether a picture has more than a few colours: pages that failed to load are white, or a header on white."""
    at, width, data = 8, 0, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            width = struct.unpack(">I", png[at + 8:at + 12])[0]
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += size + 12
    return width > 0 and len(set(zlib.decompress(data))) > 50


def picture(browser, url, path, profile):
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1400,900",
               "--virtual-time-budget=20000", "--user-data-dir=" + profile]
    subprocess.run([browser, *options, "--screenshot=" + path, url], check=True, timeout=SECONDS, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open(path, "rb") as file:
        assert is_drawn(file.read()), path


def main():
    muster, source, pictures = sys.argv[1:]
    python, browser = tensorflow_files.python_with_tensorflow(source), shutil.which("chromium")
    if python is None or browser is None or subprocess.run([python, "-c", "import tensorboard"], check=False, stderr=subprocess.DEVNULL).returncode:
        print("no TensorBoard or no chromium: ./test --peer installs both")
        sys.exit(tensorflow_files.SKIPPED)
    os.makedirs(pictures, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tensorflow_files.write_images(folder)
        tensorflow_files.train_with_checkpoints(muster, folder)
        with TensorBoard(python, folder + "/run", folder + "/log") as board:
            check_data(board)
            for page in ("scalars", "graphs"):
                picture(browser, board.url + "#" + page, f"{pictures}/{page}.png", folder + "/profile")
    print(f"TensorBoard shows the run: {pictures}/scalars.png, graphs.png")


if __name__ == "__main__":
    main()
