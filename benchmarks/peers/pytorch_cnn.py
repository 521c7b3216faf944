"""Trains (or only runs forward) one network on synthetic images with PyTorch and prints the same closing line as
tf_cnn_benchmarks. Channels-last float32 (or bfloat16 by autocast), plain SGD with weight decay, as the benchmark program does by default."""
import argparse
import time

import torch
from torch import nn

from pytorch_models import MODELS


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data_name", default="imagenet")
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--num_batches", type=int, default=10)
    parser.add_argument("--num_warmup_batches", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--forward_only", action="store_true")
    parser.add_argument("--bfloat16", action="store_true")
    flags = parser.parse_args()

    torch.set_num_threads(flags.threads)
    torch.manual_seed(0)
    size, build = MODELS[flags.model, flags.data_name]
    network = build().to(memory_format=torch.channels_last)
    images = torch.randn(flags.batch_size, 3, size, size).contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 10 if flags.data_name == "cifar10" else 1000, (flags.batch_size,))
    loss = nn.CrossEntropyLoss()
    trained = [p for p in network.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=0.001, weight_decay=4e-5)

    def train():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=flags.bfloat16):
            value = loss(network(images).float(), labels)
        value.backward()
        optimizer.step()

    def forward():
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=flags.bfloat16):
            network(images)

    step = forward if flags.forward_only else train
    network.train(not flags.forward_only)
    for _ in range(flags.num_warmup_batches):
        step()
    start = time.perf_counter()
    for _ in range(flags.num_batches):
        step()
    seconds = time.perf_counter() - start
    print(f"PyTorch:  {torch.__version__}")
    print(f"total images/sec: {flags.num_batches * flags.batch_size / seconds:.2f}")


if __name__ == "__main__":
    main()
