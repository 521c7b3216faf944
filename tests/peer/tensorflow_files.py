"""Trains a little with Muster and lets TensorFlow read what it leaves: checkpoint, state file, graph, event file.

    tensorflow_files.py MUSTER_PROGRAM SOURCE_FOLDER

Runs itself again with a Python that has TensorFlow. Exit code 77: there is none.
"""
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77


def python_with_tensorflow(source):
    candidates = [os.environ.get("MUSTER_TF_PYTHON", "")]
    candidates += sorted(glob.glob(os.path.join(source, "build", "compare", "tensorflow*", "bin", "python")))
    for python in candidates:
        if python and os.path.exists(python):
            return python
    return None


def write_idx(path, kind, dims, data):
    with open(path, "wb") as file:
        file.write(bytes([0, 0, kind, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims) + data)


def write_images(folder):
    """Dark images are class 0, bright ones class 1."""
    for part, count in (("train", 64), ("t10k", 16)):
        pixels = b"".join(bytes([20 + i if i % 2 == 0 else 180 + i]) * 64 for i in range(count))
        write_idx(os.path.join(folder, part + "-images-idx3-ubyte"), 8, [count, 8, 8], pixels)
        write_idx(os.path.join(folder, part + "-labels-idx1-ubyte"), 8, [count], bytes(i % 2 for i in range(count)))


def train(muster, folder, *flags):
    subprocess.run([muster, "train", "--dataset=idx:" + folder, "--model=cnn", "--batch_size=8", "--num_epochs=2", "--eval_batch_size=8",
                    "--num_intra_threads=1", "--target_accuracy=0", *flags], check=True, stdout=subprocess.DEVNULL)


def train_with_checkpoints(muster, folder):
    train(muster, folder, "--checkpoint_dir=" + folder + "/ckpt", "--save_model_steps=5", "--train_dir=" + folder + "/run",
          "--save_summaries_steps=4", "--summary_verbosity=3")


def bench(muster, folder):
    """The losses that it prints, by timed step."""
    command = [muster, "bench", "--model=lenet", "--device=cpu", "--data_format=NHWC", "--batch_size=4", "--num_batches=6", "--num_warmup_batches=2",
               "--num_intra_threads=1", "--init_learning_rate=0.00001", "--display_every=1", "--train_dir=" + folder, "--save_summaries_steps=2",
               "--summary_verbosity=1"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    lines = [line.split("\t") for line in output.splitlines() if "\timages/sec: " in line]
    return {int(step): loss for step, _, loss in lines}


def check_checkpoint(tf, muster, folder):
    """TensorFlow finds and reads the newest checkpoint, writes the same values, and Muster finds no difference."""
    latest = tf.train.latest_checkpoint(folder + "/ckpt")
    assert latest == folder + "/ckpt/model.ckpt-16", latest
    reader = tf.train.load_checkpoint(latest)
    names = sorted(reader.get_variable_to_shape_map())
    assert "v/cg/conv0/conv2d/kernel/Adam_1" in names and "append_apply_gradient_ops/beta1_power" in names, names
    assert reader.get_tensor("global_step") == 16
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variables = {name: tf.compat.v1.Variable(reader.get_tensor(name), name=name) for name in names}
        session.run(tf.compat.v1.global_variables_initializer())
        saver = tf.compat.v1.train.Saver(variables, save_relative_paths=True)
        saver.save(session, folder + "/tf/model.ckpt", global_step=16, write_meta_graph=False)
        saver.restore(session, latest)
    subprocess.run([muster, "checkpoint", "compare", folder + "/ckpt", folder + "/tf"], check=True)
    subprocess.run([muster, "checkpoint", "verify", folder + "/tf"], check=True)
    with open(folder + "/ckpt/checkpoint", encoding="utf-8") as file:
        assert file.read().startswith('model_checkpoint_path: "model.ckpt-16"\n')


def check_meta_graph(tf, folder):
    """TensorFlow 1's way to go on with a checkpoint whose program is not at hand: graph, variables and Saver from the .meta file."""
    prefix = folder + "/ckpt/model.ckpt-16"
    reader = tf.train.load_checkpoint(prefix)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        saver = tf.compat.v1.train.import_meta_graph(prefix + ".meta")
        saver.restore(session, prefix)
        variables = {variable.op.name: variable for variable in tf.compat.v1.global_variables()}
        assert len(variables) == len(reader.get_variable_to_shape_map()), sorted(variables)
        assert session.run(variables["global_step"]) == 16
        assert session.run(tf.compat.v1.report_uninitialized_variables()).size == 0
        for name in ("cg/conv0/conv2d/kernel", "cg/affine1/biases", "cg/conv0/conv2d/kernel/Adam_1"):
            assert (session.run(variables[name].value()) == reader.get_tensor("v/" + name)).all(), name
        trainable = sorted(variable.op.name for variable in tf.compat.v1.trainable_variables())
        assert trainable == sorted(name for name in variables if name.startswith("cg/") and "/Adam" not in name), trainable
        saver.save(session, folder + "/again/model.ckpt", global_step=16, write_meta_graph=False)
        again = tf.train.load_checkpoint(folder + "/again/model.ckpt-16")
        for name in reader.get_variable_to_shape_map():
            assert (again.get_tensor(name) == reader.get_tensor(name)).all(), name
        session.run(tf.compat.v1.global_variables_initializer())
        assert session.run(variables["global_step"]) == 0


def check_events(tf, folder):
    (path,) = glob.glob(folder + "/run/events.out.tfevents.*")
    steps, kinds, nodes = {}, {}, 0
    metadata = {}
    for event in tf.compat.v1.train.summary_iterator(path):
        if event.HasField("tagged_run_metadata"):
            run = tf.compat.v1.RunMetadata()
            run.ParseFromString(event.tagged_run_metadata.run_metadata)
            metadata[event.step] = run
        if event.graph_def:
            graph = tf.compat.v1.GraphDef()
            graph.ParseFromString(event.graph_def)
            nodes = len(graph.node)
            names = {node.name for node in graph.node}
            assert all("/device:CPU:0" in node.device for node in graph.node if node.op != "Const"), "the graph tells devices"
        for value in event.summary.value:
            steps.setdefault(value.tag, []).append(event.step)
            kinds[value.tag] = value.WhichOneof("value")
            if kinds[value.tag] == "image":
                assert tf.io.decode_png(value.image.encoded_image_string).shape == (8, 8, 1)
    assert nodes > 50, nodes
    assert steps["total_loss"] == [4, 8, 12, 16], steps["total_loss"]
    assert kinds["total_loss"] == "simple_value" and kinds["eval/Accuracy@1"] == "simple_value", kinds
    assert kinds["v/cg/conv0/conv2d/kernel/gradients"] == "histo", kinds
    assert kinds["images/image/0"] == "image", kinds
    assert sorted(metadata) == [4, 8, 12, 16], metadata.keys()
    stats = [node for device in metadata[8].step_stats.dev_stats for node in device.node_stats]
    assert sum(node.node_name in names for node in stats) > len(stats) / 2, "operations are found in the graph"
    assert sum(node.all_end_rel_micros for node in stats) > 0 and sum(node.memory[0].total_bytes for node in stats) > 0


def curves(tf, folder):
    """By tag, the value at each step."""
    (path,) = glob.glob(folder + "/events.out.tfevents.*")
    values = {}
    for event in tf.compat.v1.train.summary_iterator(path):
        for value in event.summary.value:
            if value.WhichOneof("value") == "simple_value":
                values.setdefault(value.tag, {})[event.step] = value.simple_value
    return values


def is_close(a, b):
    """Up to the rounding of a sum of a few float32."""
    return abs(a - b) <= 2e-6 * max(abs(a), abs(b))


def check_values_of_training(tf, muster, folder):
    """With a summary of every step the means of each epoch are those of the log."""
    train(muster, folder, "--train_dir=" + folder + "/every", "--save_summaries_steps=1", "--summary_verbosity=1")
    values = curves(tf, folder + "/every")
    with open(folder + "/every/log.jsonl", encoding="utf-8") as file:
        epochs = [line for line in map(json.loads, file) if line["event"] == "evaluation"]
    assert [epoch["step"] for epoch in epochs] == [8, 16], epochs
    for epoch in epochs:
        end = epoch["step"]
        pairs = {tag: (sum(values[tag][step] for step in range(end - 7, end + 1)) / 8, epoch[name])
                 for tag, name in (("total_loss", "train_loss"), ("top_1_accuracy", "train_accuracy"))}
        pairs.update({tag: (values[tag][end], epoch[name]) for tag, name in
                      (("learning_rate", "learning_rate"), ("eval/loss", "test_loss"), ("eval/Accuracy@1", "test_accuracy"))})
        for tag, (curve, logged) in pairs.items():
            assert is_close(curve, logged), (end, tag, curve, logged)


def check_values_of_bench(tf, muster, folder):
    """Losses are those that are printed; steps count the warm-up, rates are the flag's."""
    printed = bench(muster, folder + "/bench")
    assert sorted(printed) == [1, 2, 3, 4, 5, 6] and len(set(printed.values())) == 6, printed
    values = curves(tf, folder + "/bench")
    assert {step: "%.3f" % loss for step, loss in values["total_loss"].items()} == {step + 2: printed[step] for step in (2, 4, 6)}, (values, printed)
    assert all(is_close(rate, 0.00001) for rate in values["learning_rate_1"].values()), values["learning_rate_1"]


def check_with_tensorflow(muster, folder):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import tensorflow as tf
    check_checkpoint(tf, muster, folder)
    check_meta_graph(tf, folder)
    check_events(tf, folder)
    check_values_of_training(tf, muster, folder)
    check_values_of_bench(tf, muster, folder)
    print("TensorFlow", tf.__version__, "reads Muster's checkpoint and event file")


def main():
    if sys.argv[1] == "--inside":
        return check_with_tensorflow(sys.argv[2], sys.argv[3])
    python = python_with_tensorflow(sys.argv[2])
    if python is None:
        print("no Python with TensorFlow: set MUSTER_TF_PYTHON, or run benchmarks/compare once")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        write_images(folder)
        train_with_checkpoints(sys.argv[1], folder)
        sys.exit(subprocess.run([python, __file__, "--inside", sys.argv[1], folder], check=False).returncode)


if __name__ == "__main__":
    main()
