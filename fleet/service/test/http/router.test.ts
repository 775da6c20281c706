/** Routes of hub and host: which handler answers, and with which parts of the path. */
import { expect, it } from "vitest";
import { Router } from "../../src/http/router.ts";

const nothing = (): void => undefined;

it("finds a route by method and path, and HEAD as GET", () => {
  const router = new Router();
  router.get("/teams", nothing);
  router.post("/teams", nothing);
  router.any("/device/models/:sha256", nothing, { forPrograms: true });
  const patternOf = (method: string, path: string) => router.find(method, path)?.route.pattern;
  expect(["GET", "HEAD", "POST", "PUT"].map((method) => patternOf(method, "/teams"))).toEqual([
    ...["/teams", "/teams", "/teams", undefined],
  ]);
  expect(router.find("PATCH", "/device/models/ab")).toMatchObject({
    route: { forPrograms: true },
    params: { sha256: "ab" },
  });
  for (const path of ["/", "/teams/", "/Teams", "/teams/x", "/device/models/", "/device/models/a/b"])
    expect([path, patternOf("GET", path)]).toEqual([path, undefined]);
});

it("takes a path that stands as it is before one with parameters, in any order", () => {
  const router = new Router();
  router.get("/teams/:team", nothing);
  router.get("/teams/new", nothing);
  router.get("/:a/entries", nothing);
  router.get("/entry/:b", nothing);
  expect(router.find("GET", "/teams/new")?.route.pattern).toBe("/teams/new");
  expect(router.find("GET", "/teams/old")?.params).toEqual({ team: "old" });
  expect(router.find("GET", "/entry/entries")?.route.pattern).toMatch(/entr/);
});

it("decodes parts of a path, and leaves percent signs that mean nothing", () => {
  const router = new Router();
  router.get("/link/:token", nothing);
  const tokenOf = (text: string) => router.find("GET", `/link/${text}`)?.params["token"];
  expect(["a%20b", "%C3%A9", "%2e%2e%2f", "50%", "%ff"].map(tokenOf)).toEqual(["a b", "é", "../", "50%", "%ff"]);
  expect(tokenOf("x".repeat(10_000))).toHaveLength(10_000);
});
