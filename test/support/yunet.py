"""
Writes what FaceDetectorYN of OpenCV 4.6 answers on seeded outputs of YuNet of 2022: test/fixtures/beyond/yunet_2022.json.gz.
The network is made here. It ignores its picture and gives the outputs as constants. Run it with Debian's python3-opencv:
/usr/bin/python3 test/support/yunet.py FILE
"""
import gzip
import json
import os
import sys
import tempfile

import cv2
import numpy as np


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n % 128 + 128])
        n //= 128
    return out + bytes([n])


def number(field, value):
    return varint(field * 8) + varint(value)


def block(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field * 8 + 2) + varint(len(content)) + content


def tensor(name, values):
    values = np.asarray(values, np.float32)
    dims = b"".join(number(1, d) for d in values.shape)
    return dims + number(2, 1) + block(8, name) + block(9, values.tobytes())


def value(name, dims):
    shape = b"".join(block(1, number(1, d)) for d in dims)
    return block(1, name) + block(2, block(1, number(1, 1) + block(2, shape)))


def node(operator, inputs, output, attributes=b""):
    names = b"".join(block(1, name) for name in inputs)
    return names + block(2, output) + block(3, output + "_node") + block(4, operator) + attributes


def model(width, height, outputs):
    """Returns an ONNX file. A convolution with weights of 0 adds the constants to the mean of the picture."""
    kernel = block(5, block(1, "kernel_shape") + number(8, 1) + number(8, 1) + number(20, 7))
    nodes = [node("GlobalAveragePool", ["input"], "mean")]
    weights, results = [], []
    for name, values in outputs.items():
        n = values.size
        nodes.append(node("Conv", ["mean", name + "_w", name + "_b"], name, kernel))
        weights += [tensor(name + "_w", np.zeros((n, 3, 1, 1))), tensor(name + "_b", values.reshape(-1))]
        results.append(value(name, [1, n, 1, 1]))
    graph = b"".join(block(1, x) for x in nodes) + block(2, "graph") + b"".join(block(5, x) for x in weights)
    graph += block(11, value("input", [1, 3, height, width])) + b"".join(block(12, x) for x in results)
    return number(1, 7) + block(7, graph) + block(8, block(1, "") + number(2, 11))


def prior_count(width, height):
    sizes = [(8, 3), (16, 2), (32, 2), (64, 3)]
    return sum((width // stride) * (height // stride) * count for stride, count in sizes)


def answer(seed, width, height, score, nms):
    random = np.random.RandomState(seed)
    n = prior_count(width, height)
    # Steps of a power of two: exact in f32, and short when packed.
    loc = np.round(random.uniform(-2, 2, (n, 14)) * 32) / 32
    face = np.round(random.uniform(0, 1, n) ** 3 * 4096) / 4096
    outputs = {
        "loc": loc,
        "conf": np.stack([1 - face, face], 1),
        # The network does not bound the IoU: some lie outside 0..1.
        "iou": np.round(random.uniform(-0.3, 1.4, (n, 1)) * 4096) / 4096,
    }
    with tempfile.NamedTemporaryFile(suffix=".onnx", delete=False) as file:
        file.write(model(width, height, outputs))
    detector = cv2.FaceDetectorYN.create(file.name, "", (width, height), score, nms, 5000)
    _, faces = detector.detect(np.zeros((height, width, 3), np.uint8))
    os.unlink(file.name)
    listed = lambda a: [float(x) for x in np.asarray(a).reshape(-1)]
    return {
        "input": [width, height],
        "scoreThreshold": score,
        "nmsThreshold": nms,
        "outputs": {name: {"dims": list(a.shape), "data": listed(a)} for name, a in outputs.items()},
        # x, y, width, height, five points, score
        "faces": [listed(face) for face in faces],
    }


cases = [answer(1, 64, 64, 0.5, 1.0), answer(2, 96, 64, 0.3, 1.0), answer(3, 64, 128, 0.6, 1.0)]
text = json.dumps({"by": f"OpenCV {cv2.__version__}, FaceDetectorYN", "cases": cases})
with gzip.GzipFile(sys.argv[1], "wb", mtime=0) as out:
    out.write(text.encode())
print([len(case["faces"]) for case in cases])
