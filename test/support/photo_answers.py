"""Writes what OpenCV answers on the photos of test/fixtures: `python3 test/support/photo_answers.py`.

- fixtures/prepare/chelsea.json: digests of input tensors that it prepared from photos/chelsea.png;
- fixtures/beyond/recorded/selfie_segmentation/astronaut/expected.json.gz: the mask of a person, from the recorded logits
  of MediaPipe's selfie segmentation and the person's box of MobileNet-SSD, which is recorded too.
"""
import gzip
import hashlib
import json
import pathlib

import cv2
import numpy as np

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
BY = f"OpenCV {cv2.__version__}"


def pack(path, value):
    path.write_bytes(gzip.compress(json.dumps(value).encode(), 9, mtime=0))


def letterbox(image, size):
    """Ultralytics' LetterBox with a padding of 114."""
    height, width = image.shape[:2]
    r = min(size / height, size / width)
    w, h = int(round(width * r)), int(round(height * r))
    dw, dh = (size - w) / 2, (size - h) / 2
    top, bottom = int(round(dh - 0.1)), int(round(dh + 0.1))
    left, right = int(round(dw - 0.1)), int(round(dw + 0.1))
    small = cv2.resize(image, (w, h), interpolation=cv2.INTER_LINEAR)
    return cv2.copyMakeBorder(small, top, bottom, left, right, cv2.BORDER_CONSTANT, value=(114, 114, 114))


def prepared():
    rgb = cv2.cvtColor(cv2.imread(str(FIXTURES / "photos" / "chelsea.png")), cv2.COLOR_BGR2RGB)
    boxed = letterbox(rgb, 320).astype(np.float32) / np.float32(255)
    stretched = cv2.resize(rgb, (300, 300), interpolation=cv2.INTER_LINEAR).astype(np.float32)
    tensors = {
        "letterbox": boxed.transpose(2, 0, 1)[None],
        "stretch": ((stretched - np.float32(127.5)) / np.float32(127.5))[None],
    }
    return {
        "by": BY,
        "photo": "chelsea.png",
        "tensors": {
            name: {"dims": list(t.shape), "sha256": hashlib.sha256(np.ascontiguousarray(t).tobytes()).hexdigest()}
            for name, t in tensors.items()
        },
    }


def runs(mask):
    """Run lengths row by row, zeros first."""
    flat = mask.ravel()
    edges = np.flatnonzero(np.diff(flat)) + 1
    lengths = np.diff(np.concatenate([[0], edges, [flat.size]])).tolist()
    return ([0] if flat[0] else []) + lengths


def person_mask():
    folder = FIXTURES / "beyond" / "recorded" / "selfie_segmentation" / "astronaut"
    logits = np.frombuffer(gzip.decompress((folder / "logits.bin.gz").read_bytes()), "<f2").astype(np.float32)
    answer = json.loads((FIXTURES / "mobilenet-ssd" / "astronaut" / "expected.json").read_text())
    person = answer["detections"][0]
    width = height = 512
    large = cv2.resize(logits.reshape(256, 256), (width, height), interpolation=cv2.INTER_LINEAR)
    x, y = np.arange(width), np.arange(height)[:, None]
    inside = (x >= person["x_min"] * width) & (x < person["x_max"] * width)
    inside = inside & (y >= person["y_min"] * height) & (y < person["y_max"] * height)
    mask = ((large > 0) & inside).astype(np.uint8)
    return {
        "by": BY,
        "rule": "cv2.resize of float32 logits to the photo, INTER_LINEAR; logit > 0; inside the box, edges not rounded",
        "box": {key: person[key] for key in ("x_min", "y_min", "x_max", "y_max")},
        "size": [height, width],
        "area": int(mask.sum()),
        "rle": runs(mask),
        "least_logit": float(np.abs(large[inside]).min()),
    }


(FIXTURES / "prepare" / "chelsea.json").write_text(json.dumps(prepared(), indent=2) + "\n")
pack(FIXTURES / "beyond" / "recorded" / "selfie_segmentation" / "astronaut" / "expected.json.gz", person_mask())
