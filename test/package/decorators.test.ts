// `@once` as the compilers call it that people use: the standard form, and the form of `experimentalDecorators`.
import "reflect-metadata";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as nest from "@nestjs/common";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { once } from "../../lib/core/once.ts";
import { MemoryStore } from "../../lib/testing/index.ts";
import { probe } from "../fixtures/decorators/probe.ts";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";
import { FIXTURES, FORMS, type Form, TRANSFORMERS, TSC, type Workshop, workshop } from "./compilers-given.ts";

type Payments = { define: Parameters<typeof probe>[0] };
interface Routes {
  define(decorator: typeof once, shared: object, decorators: typeof nest): { Orders: new () => Orders };
}
type Orders = Record<"above" | "below", (order: { readonly id: string }) => Promise<string>>;

let place: Workshop;
beforeAll(async () => {
  place = await workshop();
});
afterAll(() => place.remove());

const fixture = (name: string) => readFile(join(FIXTURES, name), "utf8");

/** oxc compiles the legacy form only. */
const PAIRS = Object.keys(TRANSFORMERS).flatMap((name) =>
  FORMS.filter((form) => form === "legacy" || name !== "oxc").map((form) => [name, form] as const),
);

const PROBED = {
  instance: [
    { by: "payments", key: "o1", attempt: 1 },
    { by: "payments", key: "o1", attempt: 1 },
  ],
  inherited: [
    { by: "loans", key: "o2", attempt: 1 },
    { by: "loans", key: "o2", attempt: 1 },
  ],
  static: [
    { by: "Payments", key: "o1" },
    { by: "Payments", key: "o1" },
  ],
  quoted: [
    { by: "payments", key: "o1" },
    { by: "payments", key: "o1" },
  ],
  stacked: [
    { by: "payments", key: "o1" },
    { by: "payments", key: "o1" },
  ],
  // What is above `@once` runs on each call, what is below it once per key.
  log: ["charge o1", "charge o2", "refund o1", "pay off o1", "outer", "inner", "stacked o1", "outer"],
  marks: expect.arrayContaining(["inner", "outer"]),
  shape: ["charge", 2],
};

describe("H87: A1: @once runs a method once per key", () => {
  it.each(PAIRS)("as %s compiles the %s form", async (name, form) => {
    const code = await TRANSFORMERS[name]!(await fixture("payments.ts"), form);
    const { define } = await place.load<Payments>(code);

    expect(await probe(define)).toEqual(PROBED);
  });

  it.each(Object.keys(TSC).flatMap((name) => FORMS.map((form) => [name as keyof typeof TSC, form] as const)))(
    "as %s checks and compiles the %s form",
    async (name, form) => {
      const { define } = await place.tsc<Payments>(name, form, "payments.ts");

      expect(await probe(define)).toEqual(PROBED);
    },
    180_000,
  );

  it.each(FORMS)("as tsx runs the %s form", async (form) => {
    const config = await place.tsconfig(form, ["run.ts"]);
    const tsx = join(root, "node_modules/tsx/dist/cli.mjs");
    const { stdout } = await run(
      process.execPath,
      [tsx, "--tsconfig", config, join(FIXTURES, "run.ts")],
      root,
    );

    expect(JSON.parse(stdout)).toEqual(PROBED);
  });

  it.each(["swc", "babel", "esbuild"])("on private methods, as %s compiles them", async (name) => {
    const code = await TRANSFORMERS[name]!(
      `export function define(decorator: any) {
        class Vault {
          @decorator async #open(order: { id: string }, own?: { key: string }) { return own?.key; }
          @decorator static async #close(order: { id: string }, own?: { key: string }) { return own?.key; }
          open(order: { id: string }) { return this.#open(order); }
          static close(order: { id: string }) { return Vault.#close(order); }
        }
        return Vault;
      }`,
      "standard",
    );
    const { define } = await place.load<{
      define(decorator: unknown): { new (): { open(order: object): unknown }; close(order: object): unknown };
    }>(code);
    const Vault = define(decorator());

    expect(await new Vault().open({ id: "o1" })).toBe("o1");
    expect(await Vault.close({ id: "o1" })).toBe("o1");
  });
});

const decorator = () =>
  once({
    operation: "charge",
    store: new MemoryStore(),
    leaseSeconds: 30,
    key: (order: { readonly id: string }) => order.id,
  });

describe("H87: A1: a use of @once that can't work is refused when the class is defined", () => {
  const USES: readonly (readonly [what: string, body: string, forms: readonly Form[]])[] = [
    ["a field", "class A { @d charge = async () => 1 }", FORMS],
    ["a field without a value", "class A { @d charge }", FORMS],
    ["a static field", "class A { @d static charge = async () => 1 }", FORMS],
    ["a getter", "class A { @d get charge() { return async () => 1 } }", FORMS],
    ["a setter", "class A { @d set charge(value) {} }", FORMS],
    ["an accessor", "class A { @d accessor charge = 1 }", ["standard"]],
    ["a class", "@d class A {}", FORMS],
    ["a parameter of a method", "class A { charge(@d order) {} }", ["legacy"]],
    ["a parameter of a constructor", "class A { constructor(@d order) {} }", ["legacy"]],
  ];
  const cases = USES.flatMap(([what, body, forms]) =>
    PAIRS.filter(([, form]) => forms.includes(form))
      // Babel's legacy form has no decorators of parameters.
      .filter(([name]) => name !== "babel" || !what.startsWith("a parameter"))
      .map(([name, form]) => [what, name, form, body] as const),
  );

  it.each(cases)("%s, as %s compiles the %s form", async (_what, name, form, body) => {
    const code = await TRANSFORMERS[name]!(`export function define(d: any) { ${body}; return A; }`, form);
    const { define } = await place.load<{ define(decorator: unknown): unknown }>(code);

    expect(() => define(decorator())).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining("`@once`") }),
    );
  });

  it.each([
    ["called with a function", [async () => 1]],
    ["called with nothing", []],
    ["called by an older standard decorator", [{ kind: "method", placement: "prototype", key: "charge" }]],
  ])("%s", (_what, given) => {
    expect(() => (decorator() as (...given: unknown[]) => unknown)(...given)).toThrow("`@once`");
  });
});

describe("H87: A1: @once next to Nest's decorators", () => {
  const shared = () => ({ store: new MemoryStore(), leaseSeconds: 30 });

  async function routes(compile: () => Promise<Routes>) {
    const { define } = await compile();
    const { Orders } = define(once, shared(), nest);
    const { above, below } = Orders.prototype as Orders;
    const metadataOf = (method: object) =>
      Object.fromEntries(
        Reflect.getMetadataKeys(method).map((key) => [key, Reflect.getMetadata(key, method)]),
      );
    const types = Reflect.getMetadata("design:paramtypes", Orders.prototype, "below") as { name: string }[];
    const orders = new Orders();
    const answers = [await orders.below({ id: "o1" }), await orders.below({ id: "o1" })];
    return {
      above: metadataOf(above),
      below: metadataOf(below),
      types: types.map(({ name }) => name),
      answers,
    };
  }
  const EXPECTED = {
    above: { path: "above", method: nest.RequestMethod.POST, __httpCode__: 202 },
    below: {
      path: "below",
      method: nest.RequestMethod.POST,
      __headers__: [{ name: "x-made-by", value: "nest" }],
    },
    types: ["Order"],
    answers: ["o1", "o1"],
  };

  it.each(Object.keys(TSC) as (keyof typeof TSC)[])(
    "keeps their metadata with %s",
    async (name) => {
      expect(await routes(() => place.tsc(name, "legacy", "routes.ts"))).toEqual(EXPECTED);
    },
    180_000,
  );

  it("keeps their metadata with swc", async () => {
    const compile = async () =>
      place.load<Routes>(await TRANSFORMERS.swc!(await fixture("routes.ts"), "legacy"));

    expect(await routes(compile)).toEqual(EXPECTED);
  });
});

describe("docs/guides/recipes.md", () => {
  it("H87: A1: says rightly that oxc leaves standard decorators in place", async () => {
    const code = await TRANSFORMERS.oxc!("export class A { @once() async charge() {} }", "standard");

    expect(code).toContain("@once()");
  });
});
