"""What benchmarks/compare measures: the cases, and how much faster than the faster peer Muster means to be."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    model: str
    batch_size: int
    num_batches: int  # timed steps of one run: about ten seconds for the slowest program
    target: float = 0  # images/sec over those of the faster peer; 0: only tabled
    data_name: str = "imagenet"
    forward_only: bool = False
    threads: int = 2  # of all devices together
    num_devices: int = 1
    variable_update: str = ""
    bfloat16: bool = False
    real_data: bool = False  # training on Fashion-MNIST: num_batches is of one pass over it

    @property
    def name(self):
        extra = ["forward only"] if self.forward_only else ["Fashion-MNIST"] if self.real_data else []
        extra += ["bfloat16"] if self.bfloat16 else []
        extra += ["1 thread"] if self.threads == 1 else []
        extra += [f"{self.num_devices} devices {self.variable_update}"] if self.num_devices > 1 else []
        return f"{self.model}:{self.batch_size}" + "".join(f" ({e})" for e in extra)


SPEED = [
    Case("resnet50", 32, 4, 1.05),
    Case("resnet50", 8, 10, 1.05),
    Case("resnet50_v1.5", 32, 4, 1.05),
    Case("resnet50_v1.5", 8, 10, 1.05),
    Case("vgg16", 16, 3, 1.15),
    Case("inception3", 16, 5, 1.15),
    Case("alexnet", 64, 8, 1.15),
    Case("resnet20", 128, 40, 1.5, data_name="cifar10"),
    Case("resnet56", 128, 15, 1.5, data_name="cifar10"),
    Case("lenet", 32, 600, 2.0),
    Case("trivial", 32, 800, 2.0),
    Case("resnet50", 32, 10, 1.1, forward_only=True),
    Case("cnn_5x5", 128, 468, 1.15, data_name="mnist", real_data=True),
]

# How cost grows with the batch, and what the second thread brings.
GROWTH = [Case("resnet50", batch, max(3, 80 // batch)) for batch in (1, 2, 4, 8, 16, 32, 64)]
THREADS = [Case("resnet50", 32, 3, threads=1), Case("resnet20", 128, 20, data_name="cifar10", threads=1),
           Case("lenet", 32, 300, threads=1)]

# On CPUs with AVX512-BF16 or AMX. Each program computes activations in bfloat16 and keeps float32 weights.
BFLOAT16 = [Case("resnet50", 32, 6, 1.7, bfloat16=True), Case("resnet50_v1.5", 32, 6, 1.7, bfloat16=True)]

# Two CPU devices with one core each beside one with both. The batch is that of a device.
TOWERS = [Case("resnet50", 32, 4, 1.05),
          Case("resnet50", 16, 4, 1.0, num_devices=2, variable_update="replicated"),
          Case("resnet50", 16, 4, 1.0, num_devices=2, variable_update="parameter_server")]

# Limits that benchmarks/roofline measures, and the part of them that Muster means to reach.
ROOFLINE_MODELS = ("resnet50", "resnet50_v1.5")
ROOFLINE_TARGET = 0.88
ROOFLINE_TARGET_BFLOAT16 = 0.75
