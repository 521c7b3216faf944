"""tf.data doing what tf_cnn_benchmarks does to training images; the counterpart of benchmarks/input_speed.cc.

    tensorflow_input.py measure FOLDER [--seconds 5] [--threads 1] [--size 224] [--batch 32] [--distortions]
    tensorflow_input.py records FOLDER [--images 256]

"records" writes a shard of photograph-like images of ImageNet's usual size (500 x 375, about 110 kB each). Colours change in HSV
there, as TensorFlow 2 has no operation for YIQ.
"""
import argparse
import os
import time

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def photograph(np, rng, height=375, width=500):
    """Noise of all sizes, the larger the stronger, as natural images have it."""
    image = np.zeros((height, width, 3))
    for log in range(8):
        cell = 2 ** log
        coarse = rng.normal(size=(height // cell + 2, width // cell + 2, 3)) * np.array([1, 0.9, 1.1])
        rows, columns = np.arange(height) / cell, np.arange(width) / cell
        r, c = rows.astype(int), columns.astype(int)
        fr, fc = (rows - r)[:, None, None], (columns - c)[None, :, None]
        top = coarse[r][:, c] * (1 - fc) + coarse[r][:, c + 1] * fc
        bottom = coarse[r + 1][:, c] * (1 - fc) + coarse[r + 1][:, c + 1] * fc
        image += (top * (1 - fr) + bottom * fr) * (2.5 + 4 * log)
    return np.clip(image + 120, 0, 255).astype(np.uint8)


def write_records(tf, np, args):
    rng = np.random.default_rng(1)
    os.makedirs(args.folder, exist_ok=True)
    with tf.io.TFRecordWriter(os.path.join(args.folder, "train-00000-of-00001")) as writer:
        for i in range(args.images):
            encoded = tf.io.encode_jpeg(photograph(np, rng), quality=92, chroma_downsampling=True).numpy()
            box = [tf.train.Feature(float_list=tf.train.FloatList(value=[v])) for v in (0.2, 0.15, 0.8, 0.9)]
            feature = {"image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[encoded])),
                       "image/class/label": tf.train.Feature(int64_list=tf.train.Int64List(value=[1 + i % 1000]))}
            for name, value in zip(("ymin", "xmin", "ymax", "xmax"), box):
                feature["image/object/bbox/" + name] = value
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    print(f"wrote {args.images} images, {len(encoded)} bytes the last one")


def distort(tf, image, order):
    image = tf.image.random_brightness(image / 255.0, 32.0 / 255.0)
    if order == 1:
        image = tf.image.random_contrast(image, 0.5, 1.5)
    image = tf.image.random_hue(tf.image.random_saturation(image, 0.5, 1.5), 0.2)
    if order == 0:
        image = tf.image.random_contrast(image, 0.5, 1.5)
    return tf.clip_by_value(image, 0.0, 1.0) * 255.0


def prepare(tf, args):
    features = {"image/encoded": tf.io.FixedLenFeature([], tf.string), "image/class/label": tf.io.FixedLenFeature([1], tf.int64)}
    sides = ["image/object/bbox/" + side for side in ("ymin", "xmin", "ymax", "xmax")]
    features.update({side: tf.io.VarLenFeature(tf.float32) for side in sides})

    def one(record, position):
        parsed = tf.io.parse_single_example(record, features)
        boxes = tf.stack([tf.sparse.to_dense(parsed[side]) for side in sides], axis=-1)[None]
        encoded = parsed["image/encoded"]
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.image.extract_jpeg_shape(encoded), boxes, min_object_covered=0.1, aspect_ratio_range=[0.75, 1.33],
            area_range=[0.05, 1.0], max_attempts=100, use_image_if_no_bounding_boxes=True)
        window = tf.stack([begin[0], begin[1], size[0], size[1]])
        image = tf.image.random_flip_left_right(tf.image.decode_and_crop_jpeg(encoded, window, channels=3))
        image = tf.compat.v1.image.resize_images(image, [args.size, args.size], tf.image.ResizeMethod.BILINEAR, align_corners=False)
        if args.distortions:
            image = tf.cond(position % 2 == 0, lambda: distort(tf, image, 0), lambda: distort(tf, image, 1))
        return image * (1.0 / 127.5) - 1.0, parsed["image/class/label"][0]

    return one


def measure(tf, args):
    data = tf.data.TFRecordDataset(tf.io.gfile.glob(os.path.join(args.folder, "train-*-of-*")))
    data = tf.data.Dataset.zip((data, tf.data.Dataset.range(args.batch).repeat()))
    data = data.prefetch(args.batch).shuffle(10000).repeat()
    data = data.map(prepare(tf, args), num_parallel_calls=args.threads).batch(args.batch, drop_remainder=True).prefetch(1)
    options = tf.data.Options()
    options.threading.private_threadpool_size = args.threads
    options.threading.max_intra_op_parallelism = 1
    iterator = iter(data.with_options(options))
    for _ in range(5):
        next(iterator)
    begin, cpu, images = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - begin < args.seconds:
        next(iterator)
        images += args.batch
    wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    print(f"tf.data: {images / wall:.1f} images/s, {images / cpu:.1f} images per processor second")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["measure", "records"])
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--distortions", action="store_true")
    args = parser.parse_args()
    import tensorflow as tf
    import numpy as np
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(max(1, args.threads))
    if args.what == "records":
        write_records(tf, np, args)
    else:
        measure(tf, args)


if __name__ == "__main__":
    main()
