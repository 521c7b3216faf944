"""The programs that are compared: how each is installed, started with its best settings, and read."""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "compare"
BIN = ROOT / "build" / "release" / "bin"

TENSORFLOW = ["tensorflow-cpu==2.21.*", "tf_keras==2.21.*", "tensorboard==2.21.*"]  # the last for the tests labelled peer
PYTORCH = ["torch==2.15.*"]
TF_CNN_BENCHMARKS = ("https://github.com/tensorflow/benchmarks", "8fb7907")  # the last commit of its branch master


class Failure(Exception):
    """One line for the user."""


def run(command, env=None, timeout=None):
    """Runs a program to its end. Returns (standard output, peak resident bytes); a failed run raises Failure."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=subprocess.STDOUT,
                                   env={**os.environ, **(env or {})})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)  # or Popen would wait for it again
        out.seek(0)
        text = out.read()
    if process.returncode != 0:
        last = [line for line in text.splitlines() if line.strip()][-1:] or ["no output"]
        raise Failure(f"{' '.join(map(str, command))} ended with {process.returncode}: {last[0]}")
    return text, usage.ru_maxrss * 1024


def images_per_sec(text):
    found = re.search(r"total images/sec: ([0-9.]+)", text)
    if not found:
        raise Failure("no line 'total images/sec' in the output")
    return float(found.group(1))


def install(name, requirements):
    """A virtual environment under build/compare with the packages in it; returns its Python."""
    python = BUILD / name / "bin" / "python"
    marker = BUILD / name / "installed"
    if marker.exists() and marker.read_text() == str(requirements):
        return python
    print(f"Installing {', '.join(requirements)} into {BUILD.relative_to(ROOT)}/{name}", flush=True)
    run([ROOT / "scripts" / "install_deps", "--with-peers", "--without-onednn"])
    run([sys.executable, "-m", "venv", "--clear", BUILD / name])
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements])
    marker.write_text(str(requirements))
    return python


class Muster:
    name = "Muster"

    def __init__(self):
        if not (BIN / "muster").exists():
            raise Failure("no build/release/bin/muster: build first (cmake --preset release && "
                          "cmake --build --preset release)")
        self.facts = {}

    def measure(self, case):
        if case.real_data:
            return self.train(case)
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder) / "result.json"
            threads = f"--num_intra_threads={max(1, case.threads // case.num_devices)}"  # each device has its own
            dtype = ["--use_bf16"] if case.bfloat16 else []
            text, _ = run([BIN / "muster", "bench", *bench_flags(case), *dtype, threads, f"--json={result}"])
            facts = json.loads(result.read_text())
        return images_per_sec(text), facts["measured_peak_bytes"]

    @staticmethod
    def train(case):
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder) / "result.json"
            _, peak = run([BIN / "muster", "train", f"--model={case.model}", f"--batch_size={case.batch_size}", "--optimizer=adam",
                           "--init_learning_rate=0.001", "--learning_rate_schedule=constant", "--num_epochs=1",
                           "--target_accuracy=0", f"--num_intra_threads={case.threads}", f"--json={result}"])
            return json.loads(result.read_text())["result"]["images_per_sec"], peak


class TensorFlow:
    """tf_cnn_benchmarks, unpatched."""
    name = "TensorFlow"

    def __init__(self, source):
        self.python = install("tensorflow", TENSORFLOW)
        self.program = self.find(source)

    @staticmethod
    def find(source):
        folder = Path(source).resolve() if source else BUILD / "benchmarks"
        if not source and not folder.exists():
            url, commit = TF_CNN_BENCHMARKS
            try:
                run(["git", "clone", "--quiet", url, folder])
                run(["git", "-C", folder, "checkout", "--quiet", commit])
            except Failure:
                raise Failure(f"cannot clone {url}; get it in some other way and name its folder with "
                              "--tf_cnn_benchmarks") from None
        for program in (folder / "tf_cnn_benchmarks.py", folder / "scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py"):
            if program.exists():
                return program
        raise Failure(f"no tf_cnn_benchmarks.py in {folder}")

    def measure(self, case):
        env = {"TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "1",
               "CUDA_VISIBLE_DEVICES": ""}
        threads = [f"--num_intra_threads={case.threads}", f"--num_inter_threads={case.threads}"]  # all devices share them
        if case.real_data:
            program = Path(__file__).parent / "tensorflow_fashion_mnist.py"
            text, peak = run([self.python, program, f"--batch_size={case.batch_size}", f"--threads={case.threads}"], env)
            return images_per_sec(text), peak
        dtype = ["--rewriter_config=auto_mixed_precision_onednn_bfloat16:ON"] if case.bfloat16 else []
        flags = [*bench_flags(case), *dtype, *threads]
        text, peak = run([self.python, self.program, *flags], env)
        return images_per_sec(text), peak


class PyTorch:
    """The same networks, channels last, with malloc tuned so that its memory is in huge pages and stays."""
    name = "PyTorch"

    def __init__(self, requirement=None):
        self.python = install("torch", [requirement] if requirement else PYTORCH)

    def measure(self, case):
        if case.num_devices > 1 or case.real_data:
            raise Failure("trains on synthetic images on one CPU device only")
        env = {"MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "16000000000",
               "MALLOC_TOP_PAD_": "67108864", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "CUDA_VISIBLE_DEVICES": ""}
        flags = [f"--model={case.model}", f"--data_name={case.data_name}", f"--batch_size={case.batch_size}",
                 f"--num_batches={case.num_batches}", "--num_warmup_batches=2", f"--threads={case.threads}"]
        flags += ["--forward_only"] if case.forward_only else []
        flags += ["--bfloat16"] if case.bfloat16 else []
        text, peak = run([self.python, Path(__file__).parent / "pytorch_cnn.py", *flags], env)
        return images_per_sec(text), peak


def bench_flags(case):
    """The flags that tf_cnn_benchmarks and muster bench share."""
    flags = ["--device=cpu", "--data_format=NHWC", f"--model={case.model}", f"--data_name={case.data_name}",
             f"--batch_size={case.batch_size}", f"--num_batches={case.num_batches}", "--num_warmup_batches=2",
             f"--display_every={max(1, case.num_batches // 4)}"]
    if case.num_devices > 1:
        flags += [f"--num_gpus={case.num_devices}", f"--variable_update={case.variable_update}"]
    return flags + (["--forward_only"] if case.forward_only else [])


def roofline(batch_size, bfloat16=False):
    """model → images/sec that benchmarks/roofline prints as the limit for this batch."""
    dtype = "bfloat16" if bfloat16 else "float32"
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "limits.json"
        run([BIN / "roofline", f"--batch_size={batch_size}", f"--dtype={dtype}", "--num_threads=2", f"--json={result}"])
        return {limit["model"]: limit["images_per_sec"] for limit in json.loads(result.read_text())["limits"]}


if __name__ == "__main__":  # for ./test --peer, which does not need tf_cnn_benchmarks
    install("tensorflow", TENSORFLOW)
