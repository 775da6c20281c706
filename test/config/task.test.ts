/** Options of a task that the config does not have. They were ignored without a word once. */
import { describe, expect, test } from "vitest";
import { parseConfig, readConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/core/errors.ts";

const TYPED = { family: "yolov8", classes: 1, inputSize: [64, 64] } as const;

describe("options of a task", () => {
  test("its options beside detect are refused with the task", () => {
    expect(() => parseConfig({ ...TYPED, task: "detect", edges: [[0, 1]] })).toThrow(
      'edges: got it with task "detect", expected task "pose" beside it: the option belongs to that task',
    );
  });

  test.each([
    [{ task: "pose", keypoints: [5, 2], angleRange: "raw" }, "angleRange", "pose", "oriented"],
    [{ task: "segment", keypoints: [5, 2] }, "keypoints", "segment", "pose"],
    [{ task: "oriented", maskCoefficients: 32 }, "maskCoefficients", "oriented", "segment"],
    [{ task: "detect", orientedSuppression: "opencv" }, "orientedSuppression", "detect", "oriented"],
    // Without a task, the first option says it, and the others contradict.
    [{ keypoints: [5, 2], angleForm: "radians" }, "angleForm", "pose", "oriented"],
    // All networks of the family are of one task.
    [{ family: "yunet", angleRange: "raw" }, "angleRange", "pose", "oriented"],
  ])("%j: an option of another task is refused", (options, option, task, owner) => {
    expect(() => parseConfig({ ...TYPED, ...options })).toThrow(
      `${option}: got it with task "${task}", expected task "${owner}" beside it: the option belongs to that task`,
    );
  });

  test("each option of another task is reported", () => {
    const options = { task: "pose", keypoints: [5, 2], angleRange: "raw", maskCoefficients: 32 };
    let problems: ConfigError["problems"] = [];
    try {
      parseConfig({ ...TYPED, ...options });
    } catch (e) {
      if (e instanceof ConfigError) problems = e.problems;
    }
    expect(problems.map(({ path }) => path)).toEqual(["maskCoefficients", "angleRange"]);
  });

  test("an option over a config of another task is refused, unless the task comes with it", () => {
    const pose = { ...TYPED, task: "pose", keypoints: [5, 2] } as const;
    expect(() => readConfig(pose, { angleRange: "raw" })).toThrow(
      'options.angleRange: got it for a config of task "pose", expected task "oriented" beside it',
    );
    expect(readConfig(pose, { task: "oriented", angleRange: "raw" }).task?.name).toBe("oriented");
    expect(readConfig(pose, { keypointScores: "logits" }).task).toMatchObject({
      name: "pose",
      keypoints: [5, 2],
    });
  });

  test("an option still says its task alone", () => {
    expect(parseConfig({ ...TYPED, angleRange: "raw" }).task).toEqual({
      name: "oriented",
      angleRange: "raw",
    });
    expect(parseConfig({ ...TYPED, keypoints: [5, 2] }).task?.name).toBe("pose");
  });
});
