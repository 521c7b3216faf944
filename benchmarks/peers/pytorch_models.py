"""The networks of tf_cnn_benchmarks in PyTorch, layer for layer, so that both peers do the same work.

MODELS maps (model, data set) to (image size, channels_last network). Only what a speed comparison needs: initial values are
PyTorch's own, and padding is symmetric where TensorFlow's SAME pads one side more.
"""
import torch
from torch import nn
from torch.nn import functional as F


def conv_relu(inputs, outputs, kernel, stride=1, padding=None):
    padding = kernel // 2 if padding is None else padding
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, padding), nn.ReLU(inplace=True))


def conv_norm(inputs, outputs, kernel, stride=1, padding=None, relu=True, eps=1e-5, gamma=True):
    if padding is None:
        padding = tuple(k // 2 for k in kernel) if isinstance(kernel, tuple) else kernel // 2
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False), nn.BatchNorm2d(outputs, eps)]
    if not gamma:
        layers[1].weight.requires_grad_(False)
    return nn.Sequential(*layers, *([nn.ReLU(inplace=True)] if relu else []))


def classifier(features, classes, hidden=(), dropout=False):
    layers, size = [nn.Flatten()], features
    for width in hidden:
        layers += [nn.Linear(size, width), nn.ReLU(inplace=True)] + ([nn.Dropout(0.5)] if dropout else [])
        size = width
    return nn.Sequential(*layers, nn.Linear(size, classes))


class Residual(nn.Module):
    """relu(body(x) + shortcut(x))."""

    def __init__(self, body, shortcut):
        super().__init__()
        self.body, self.shortcut = body, shortcut

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x), inplace=True)


def bottleneck(inputs, width, stride, version):
    first, second = (1, stride) if version == 1.5 else (stride, 1)
    body = nn.Sequential(conv_norm(inputs, width, 1, first), conv_norm(width, width, 3, second),
                         conv_norm(width, 4 * width, 1, relu=False))
    same = inputs == 4 * width and stride == 1
    return Residual(body, nn.Identity() if same else conv_norm(inputs, 4 * width, 1, stride, relu=False))


def resnet50(version):
    layers, channels = [conv_norm(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            layers.append(bottleneck(channels, 64 << stage, 2 if stage and not block else 1, version))
            channels = 4 * (64 << stage)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), classifier(channels, 1001))


class PaddedShortcut(nn.Module):
    """Every second pixel, with zero channels on both sides."""

    def forward(self, x):
        x = x[:, :, ::2, ::2]
        half = x.shape[1] // 2
        return F.pad(x, (0, 0, 0, 0, half, half))


def cifar_resnet(depth):
    layers, channels = [conv_norm(3, 16, 3)], 16
    for stage in range(3):
        for block in range((depth - 2) // 6):
            width, stride = 16 << stage, 2 if stage and not block else 1
            body = nn.Sequential(conv_norm(channels, width, 3, stride), conv_norm(width, width, 3, relu=False))
            layers.append(Residual(body, PaddedShortcut() if channels != width else nn.Identity()))
            channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), classifier(channels, 11))


def vgg16():
    layers, channels = [], 3
    for width, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            layers.append(conv_relu(channels, width, 3))
            channels = width
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, classifier(512 * 7 * 7, 1001, (4096, 4096), dropout=True))


def alexnet():
    return nn.Sequential(conv_relu(3, 64, 11, 4, 0), nn.MaxPool2d(3, 2), conv_relu(64, 192, 5), nn.MaxPool2d(3, 2),
                         conv_relu(192, 384, 3), conv_relu(384, 384, 3), conv_relu(384, 256, 3), nn.MaxPool2d(3, 2),
                         classifier(256 * 6 * 6, 1001, (4096, 4096), dropout=True))


def lenet():
    return nn.Sequential(conv_relu(3, 32, 5), nn.MaxPool2d(2), conv_relu(32, 64, 5), nn.MaxPool2d(2),
                         classifier(64 * 7 * 7, 1001, (512,)))


def trivial():
    return classifier(227 * 227 * 3, 1001, (1, 4096))


class Columns(nn.Module):
    """Several branches over one input, joined along the channels; a branch may itself end in columns."""

    def __init__(self, *branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


def inception3():
    def conv(inputs, outputs, kernel, stride=1, padding=None):
        return conv_norm(inputs, outputs, kernel, stride, padding, eps=1e-3, gamma=False)

    def chain(inputs, *steps):
        layers = []
        for outputs, kernel, *rest in steps:
            layers.append(conv(inputs, outputs, kernel, *rest))
            inputs = outputs
        return nn.Sequential(*layers)

    def average(inputs, outputs):
        return nn.Sequential(nn.AvgPool2d(3, 1, 1, count_include_pad=False), conv(inputs, outputs, 1))

    def a(inputs, pooled):
        return Columns(chain(inputs, (64, 1)), chain(inputs, (48, 1), (64, 5)),
                       chain(inputs, (64, 1), (96, 3), (96, 3)), average(inputs, pooled))

    def b(inputs):
        return Columns(chain(inputs, (384, 3, 2, 0)), chain(inputs, (64, 1), (96, 3), (96, 3, 2, 0)), nn.MaxPool2d(3, 2))

    def c(n):
        return Columns(chain(768, (192, 1)), chain(768, (n, 1), (n, (1, 7)), (192, (7, 1))),
                       chain(768, (n, 1), (n, (7, 1)), (n, (1, 7)), (n, (7, 1)), (192, (1, 7))), average(768, 192))

    def d(inputs):
        return Columns(chain(inputs, (192, 1), (320, 3, 2, 0)),
                       chain(inputs, (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, 0)), nn.MaxPool2d(3, 2))

    def e(inputs, pool):
        def fork(width):
            return Columns(conv(width, 384, (1, 3)), conv(width, 384, (3, 1)))
        last = average(inputs, 192) if pool == "avg" else nn.Sequential(nn.MaxPool2d(3, 1, 1), conv(inputs, 192, 1))
        return Columns(chain(inputs, (320, 1)), nn.Sequential(conv(inputs, 384, 1), fork(384)),
                       nn.Sequential(chain(inputs, (448, 1), (384, 3)), fork(384)), last)

    stem = [conv(3, 32, 3, 2, 0), conv(32, 32, 3, 1, 0), conv(32, 64, 3), nn.MaxPool2d(3, 2), conv(64, 80, 1),
            conv(80, 192, 3, 1, 0), nn.MaxPool2d(3, 2)]
    return nn.Sequential(*stem, a(192, 32), a(256, 64), a(288, 64), b(288), c(128), c(160), c(160), c(192), d(768),
                         e(1280, "avg"), e(2048, "max"), nn.AvgPool2d(8), classifier(2048, 1001))


MODELS = {
    ("resnet50", "imagenet"): (224, lambda: resnet50(1)),
    ("resnet50_v1.5", "imagenet"): (224, lambda: resnet50(1.5)),
    ("vgg16", "imagenet"): (224, vgg16),
    ("inception3", "imagenet"): (299, inception3),
    ("alexnet", "imagenet"): (227, alexnet),
    ("lenet", "imagenet"): (28, lenet),
    ("trivial", "imagenet"): (227, trivial),
    ("resnet20", "cifar10"): (32, lambda: cifar_resnet(20)),
    ("resnet56", "cifar10"): (32, lambda: cifar_resnet(56)),
}
