/** The playground's examples. Their files are made from the fixtures when the site is built. */

/** An example in the list. */
export interface Example {
  readonly name: string;
  readonly title: string;
  readonly about: string;
}

export const EXAMPLES: readonly Example[] = [
  { name: "boxes", title: "Boxes", about: "Yolo-Fastest: two raw maps of 255 channels" },
  { name: "keypoints", title: "Keypoints", about: "YuNet: twelve tensors, five points a face" },
  { name: "masks", title: "Masks", about: "A YOLOv8 head with coefficients and prototypes, seeded" },
  { name: "oriented", title: "Oriented boxes", about: "A YOLOv8 head with angles, seeded" },
  { name: "large", title: "[1,84,8400]", about: "The first workload of the benchmark, 2.8 MB" },
];
