"""Prepares seeded pictures with OpenCV and Pillow. Reads cases as JSON from standard input, prints a digest of each tensor.

    node ... | python3 prepare.py [--dump INDEX]

test/support/prepare-cases.ts makes the cases and the same bytes.
"""
import hashlib
import json
import sys

import cv2
import numpy as np
from PIL import Image


def noise_hash(x):
    h = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B)
    return h ^ (h >> np.uint32(16))


def data_of(case, length):
    i = np.arange(length, dtype=np.uint32)
    noise = noise_hash(np.uint32(case["seed"]) + i)
    value = (i >> np.uint32(3)) + (noise & np.uint32(15)) if case["seed"] % 2 == 0 else noise
    return (value & np.uint32(255)).astype(np.uint8)


def rgb_of(case):
    width, height, form, stride = (case[k] for k in ("width", "height", "format", "stride"))
    if form in ("nv12", "i420"):
        data = data_of(case, stride * height * 3 // 2)
        luma = data[: stride * height].reshape(height, stride)[:, :width]
        rest = data[stride * height :]
        if form == "nv12":
            chroma = rest.reshape(height // 2, stride)[:, :width]
            return cv2.cvtColor(np.vstack([luma, chroma]), cv2.COLOR_YUV2RGB_NV12)
        half = rest.reshape(2, height // 2, stride // 2)[:, :, : width // 2]
        packed = np.concatenate([luma.ravel(), half.ravel()]).reshape(height * 3 // 2, width)
        return cv2.cvtColor(np.ascontiguousarray(packed), cv2.COLOR_YUV2RGB_I420)
    channels = {"rgba": 4, "rgb": 3, "bgr": 3, "gray": 1, "yuyv": 2}[form]
    rows = data_of(case, stride * height).reshape(height, stride)[:, : width * channels]
    pixels = np.ascontiguousarray(rows).reshape(height, width, channels)
    if form == "yuyv":
        return cv2.cvtColor(pixels, cv2.COLOR_YUV2RGB_YUY2)
    if form == "gray":
        return cv2.cvtColor(pixels, cv2.COLOR_GRAY2RGB)
    if form == "rgba":
        return cv2.cvtColor(pixels, cv2.COLOR_RGBA2RGB)
    return pixels if form == "rgb" else cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB)


CV = {
    "bilinear": cv2.INTER_LINEAR,
    "area": cv2.INTER_AREA,
    "nearest": cv2.INTER_NEAREST,
    "cubic": cv2.INTER_CUBIC,
}


def crop(image, in_width, in_height, how):
    """cv2.dnn.blobFromImage with crop=True, which scales by an f32 factor. Pillow has whole sizes only."""
    height, width = image.shape[:2]
    factor = float(max(np.float32(in_width) / np.float32(width), np.float32(in_height) / np.float32(height)))
    if how == "pillow":
        whole = resample(image, round(width * factor), round(height * factor), how)
    else:
        whole = cv2.resize(image, None, fx=factor, fy=factor, interpolation=CV[how])
    left, top = int(0.5 * (whole.shape[1] - in_width)), int(0.5 * (whole.shape[0] - in_height))
    cut = whole[top : top + in_height, left : left + in_width]
    if how == "bilinear":
        size = (in_width, in_height)
        blob = cv2.dnn.blobFromImage(image, 1.0, size, crop=True, ddepth=cv2.CV_8U)
        assert np.array_equal(blob[0].transpose(1, 2, 0), cut), "blobFromImage crops otherwise"
    return cut


def resample(image, width, height, how):
    if how == "pillow":
        return np.asarray(Image.fromarray(image).resize((width, height), Image.BILINEAR))
    return cv2.resize(image, (width, height), interpolation=CV[how])


def placed(image, rule):
    """Ultralytics' LetterBox, YOLOX's top left corner, a plain resize, a crop as blobFromImage cuts it."""
    height, width = image.shape[:2]
    in_width, in_height = rule["size"]
    mode, how, pad = rule["resize"], rule["resample"], rule["pad"]
    if mode == "stretch":
        return resample(image, in_width, in_height, how)
    if mode == "crop":
        return crop(image, in_width, in_height, how)
    margin = rule.get("margin", 0)
    r = min((in_height - margin) / height, (in_width - margin) / width)
    w, h = max(1, int(round(width * r))), max(1, int(round(height * r)))
    dw, dh = in_width - w, in_height - h
    top, bottom, left, right = 0, dh, 0, dw
    if mode == "letterbox":
        dw, dh = dw / 2, dh / 2
        top, bottom = int(round(dh - 0.1)), int(round(dh + 0.1))
        left, right = int(round(dw - 0.1)), int(round(dw + 0.1))
    small = resample(image, w, h, how)
    # Pads stand in the order of the tensor's channels.
    pads = (pad,) * 3 if isinstance(pad, int) else tuple(pad if rule["order"] == "RGB" else pad[::-1])
    return cv2.copyMakeBorder(small, top, bottom, left, right, cv2.BORDER_CONSTANT, value=pads)


def tensor_of(case):
    rule = case["rule"]
    image = placed(rgb_of(case), rule)
    kind = rule.get("type", "f32")
    raw = kind == "u8" and "scale" not in rule
    mean = np.broadcast_to(np.float32(rule.get("mean", 0)), 3)
    if "factor" in rule:
        # blobFromImage swaps the channels, takes the mean away and then multiplies.
        swap = rule["order"] == "BGR"
        blob = cv2.dnn.blobFromImage(image, rule["factor"], None, tuple(map(float, mean)), swapRB=swap, crop=False)
    else:
        ordered = image if rule["order"] == "RGB" else image[:, :, ::-1]
        std = np.broadcast_to(np.float32(rule.get("std", 1 if raw else 255)), 3)
        values = (ordered.astype(np.float32) - mean) / std
        blob = values.transpose(2, 0, 1)[None]
    if kind == "f16":
        blob = blob.astype(np.float16)
    elif kind in ("u8", "i8"):
        low, high, form = (0, 255, np.uint8) if kind == "u8" else (-128, 127, np.int8)
        scaled = np.rint(blob / np.float32(rule.get("scale", 1))) + rule.get("zeroPoint", 0)
        blob = np.clip(scaled, low, high).astype(form)
    if rule["layout"] == "NHWC":
        blob = blob.transpose(0, 2, 3, 1)
    return np.ascontiguousarray(blob)


def main():
    cv2.setNumThreads(1)
    cases = json.load(sys.stdin)
    if len(sys.argv) > 1:
        sys.stdout.buffer.write(tensor_of(cases[int(sys.argv[2])]).tobytes())
        return
    versions = {"opencv": cv2.__version__, "pillow": Image.__version__}
    digests = [hashlib.sha256(tensor_of(case).tobytes()).hexdigest()[:16] for case in cases]
    json.dump({"versions": versions, "digests": digests}, sys.stdout)


main()
