import { expect, test } from "vitest";
import { isTopic, readMqttAddress } from "../src/mqtt.ts";

const plain = { host: "broker", port: 1883, isEncrypted: false, user: null, password: null };

test.each([
  ["mqtt://broker", plain],
  ["mqtt://broker:1884/", { ...plain, port: 1884 }],
  ["mqtts://cam:p%40ss%2F1@broker", { ...plain, port: 8883, isEncrypted: true, user: "cam", password: "p@ss/1" }],
  ["mqtt://token@[::1]:1", { ...plain, host: "::1", port: 1, user: "token" }],
  ["mqtt://a:100%@broker", { ...plain, user: "a", password: "100%" }],
])("reads %s", (text, address) => expect(readMqttAddress(text)).toEqual(address));

test.each([
  "broker:1883",
  "http://broker",
  "mqtt://",
  "mqtt://broker/path",
  "mqtt://broker?x=1",
  "mqtt:broker",
  "mqtt://a b",
])("refuses %s", (text) => expect(readMqttAddress(text)).toBeNull());

test.each([
  ["boxwright", true],
  ["shop/north hall/boxwright", true],
  ["", false],
  ["/a", false],
  ["a/", false],
  ["a/+", false],
  ["a/#", false],
  ["$share/a", false],
  ["a\nb", false],
  ["a".repeat(201), false],
])("%j as a topic: %j", (text, isOne) => expect(isTopic(text)).toBe(isOne));
