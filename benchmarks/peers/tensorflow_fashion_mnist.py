"""Trains Fashion-MNIST for one epoch with TensorFlow: Muster's cnn_5x5 (convolutions of 5x5 with 32 and 64 filters, each with
ReLU and max pooling, a dense layer of 128, logits), Adam at 0.001. Prints images/sec of the steps, without the first ten.
"""
import argparse
import gzip
import os
import time
from pathlib import Path

import numpy as np
import tensorflow as tf

FOLDER = Path(os.environ.get("MUSTER_DATA_DIR") or "/usr/share/datasets") / "fashion-mnist"


def read(name, skip):
    return np.frombuffer(gzip.decompress((FOLDER / name).read_bytes()), np.uint8, offset=skip)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch_size", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    flags = parser.parse_args()
    tf.config.threading.set_inter_op_parallelism_threads(flags.threads)
    tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
    images = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28, 1).astype(np.float32) / np.float32(255)
    labels = read("train-labels-idx1-ubyte.gz", 8).astype(np.int64)

    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Input((28, 28, 1)),
        layers.Conv2D(32, 5, padding="same", activation="relu"), layers.MaxPool2D(2),
        layers.Conv2D(64, 5, padding="same", activation="relu"), layers.MaxPool2D(2),
        layers.Flatten(), layers.Dense(128, activation="relu"), layers.Dense(10)])
    optimizer = tf.keras.optimizers.Adam(1e-3)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    order = np.random.RandomState(1).permutation(len(images))
    seconds, timed = 0.0, 0
    for number, begin in enumerate(range(0, len(images) - flags.batch_size + 1, flags.batch_size)):
        chosen = order[begin:begin + flags.batch_size]
        x, y = tf.constant(images[chosen]), tf.constant(labels[chosen])
        start = time.perf_counter()
        loss = float(step(x, y))
        if number >= 10:
            seconds += time.perf_counter() - start
            timed += 1
    print(f"loss {loss:.3f}")
    print(f"total images/sec: {timed * flags.batch_size / seconds:.2f}")


if __name__ == "__main__":
    main()
