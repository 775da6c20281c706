"""Writes what OpenCV's own network runtime answers for the photos that the demo runs: `python3 test/support/demo_answers.py`.

- fixtures/models/yolox_nano.PHOTO.json: boxes of YOLOX nano by the steps of its authors (yolox/data/data_augment.py,
  yolox/utils/demo_utils.py): letterbox at the upper left, BGR, 0..255; cells decoded; suppression per class.
"""
import json
import pathlib

import cv2
import numpy as np

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
SIZE = 416
SCORE, IOU = 0.25, 0.45
NETWORK = cv2.dnn.readNetFromONNX(str(FIXTURES / "models" / "yolox_nano.onnx"))


def prepared(image):
    height, width = image.shape[:2]
    ratio = min(SIZE / height, SIZE / width)
    # The authors cut sizes off; boxwright rounds them (docs/prepare.md).
    small = cv2.resize(image, (round(width * ratio), round(height * ratio)), interpolation=cv2.INTER_LINEAR)
    padded = np.full((SIZE, SIZE, 3), 114, np.uint8)
    padded[: small.shape[0], : small.shape[1]] = small
    return padded.astype(np.float32).transpose(2, 0, 1)[None], ratio


def decoded(rows):
    cells, strides = [], []
    for stride in (8, 16, 32):
        n = SIZE // stride
        y, x = np.mgrid[:n, :n]
        cells.append(np.stack([x.ravel(), y.ravel()], 1))
        strides.append(np.full((n * n, 1), stride))
    cells, strides = np.concatenate(cells), np.concatenate(strides)
    centre = (rows[:, :2] + cells) * strides
    size = np.exp(rows[:, 2:4]) * strides
    return np.concatenate([centre - size / 2, size], 1), rows[:, 4:5] * rows[:, 5:]


def detections(photo):
    image = cv2.imread(str(FIXTURES / "photos" / photo))
    height, width = image.shape[:2]
    blob, ratio = prepared(image)
    NETWORK.setInput(blob)
    boxes, scores = decoded(NETWORK.forward()[0].astype(np.float64))
    classes = scores.argmax(1)
    best = scores.max(1)
    apart = boxes + np.stack([classes * 10000.0, np.zeros(len(classes))] + [np.zeros(len(classes))] * 2, 1)
    kept = cv2.dnn.NMSBoxes(apart.tolist(), best.tolist(), SCORE, IOU)
    found = []
    for i in sorted(np.array(kept).ravel().tolist(), key=lambda i: -best[i]):
        x, y, w, h = (boxes[i] / ratio).tolist()
        found.append(
            {
                "class_id": int(classes[i]),
                "confidence": float(best[i]),
                "x_min": x / width,
                "y_min": y / height,
                "x_max": (x + w) / width,
                "y_max": (y + h) / height,
            }
        )
    return {"by": f"OpenCV {cv2.__version__}", "photo": photo, "detections": found}


for photo in ("dogs.jpg", "hopper.jpg"):
    name = f"yolox_nano.{photo.split('.')[0]}.json"
    (FIXTURES / "models" / name).write_text(json.dumps(detections(photo), indent=1) + "\n")
