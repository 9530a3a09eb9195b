import { traceparentFromXRay } from "onceonly/messaging";
import { describe, expect, it } from "vitest";
import { readTraceparent } from "../../../lib/core/traceparent.ts";
import { newWorld } from "../world.ts";

const ROOT = "Root=1-5759e988-bd862e3fe1be46a994272793";
const PARENT = "Parent=53995c3f42cd8ad8";
const AS_W3C = "00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-0";

describe("traceparentFromXRay", () => {
  it.each([
    [`${ROOT};${PARENT};Sampled=1`, `${AS_W3C}1`],
    [`${ROOT};${PARENT};Sampled=0`, `${AS_W3C}0`],
    [`${ROOT};${PARENT};Sampled=?`, `${AS_W3C}0`],
    [`${ROOT};${PARENT}`, `${AS_W3C}0`],
    [`Self=1-a-b; ${PARENT}; Sampled=1; ${ROOT}; Lineage=a:0`, `${AS_W3C}1`],
  ])("reads %s", (header, traceparent) => {
    expect(traceparentFromXRay(header)).toBe(traceparent);
  });

  it.each([
    undefined,
    "",
    ROOT,
    PARENT,
    "Root=1-5759e988-bd862e3fe1be46a99427279;Parent=53995c3f42cd8ad8;Sampled=1",
    "Root=2-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1",
    `Root=2${ROOT.slice(5)};${PARENT};Sampled=1`,
    `${ROOT}0;${PARENT};Sampled=1`,
    `${ROOT};Parent=0000000000000000;Sampled=1`,
    `${ROOT};Parent=;Sampled=1`,
    `${AS_W3C}1`,
  ])("ignores a value that names no segment: %s", (header) => {
    expect(traceparentFromXRay(header)).toBeUndefined();
  });
});

describe("readTraceparent", () => {
  const valid = `${AS_W3C}1`;

  it.each([valid, valid.replace(/^00/, "01")])("accepts %s", (value) => {
    expect(readTraceparent(value)).toBe(value);
  });

  it.each([
    [undefined],
    [[valid]],
    [`${valid} `],
    [valid.replace(/^00/, "ff")],
    [valid.replace("5759e988bd862e3fe1be46a994272793", "0".repeat(32))],
    [valid.replace("53995c3f42cd8ad8", "0".repeat(16))],
    [valid.toUpperCase()],
  ])("leaves out %j", (value) => {
    expect(readTraceparent(value)).toBeUndefined();
  });
});

describe("the trace context of an attempt", () => {
  const given = `${AS_W3C}1`;
  const own = `${AS_W3C}0`;
  const fails = () => {
    throw new Error("no tracer");
  };

  it.each<[string, (() => string | undefined) | undefined, string | undefined]>([
    ["the caller's, without the option", undefined, given],
    ["the option's", () => own, own],
    ["none, if the option returns none", () => undefined, undefined],
    ["none, if the option returns something else", () => "00-0", undefined],
    ["none, if the option throws", fails, undefined],
  ])("is %s", async (_, traceparent, expected) => {
    const world = newWorld();
    const seen: unknown[] = [];

    await world.call(
      (execution) => seen.push(execution.traceparent),
      { traceparent },
      { traceparent: given },
    );

    expect(seen).toEqual([expected]);
  });
});
