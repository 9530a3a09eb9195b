// The two ways in which compilers call a decorator, called by hand. The compilers themselves: test/package/decorators.test.ts.
import { describe, expect, it } from "vitest";
import type { Execution } from "../../lib/core/execution.ts";
import { once } from "../../lib/core/once.ts";
import { MemoryStore } from "../../lib/testing/index.ts";

type Decorate = (...given: unknown[]) => unknown;
type AnyMethod = (...args: unknown[]) => Promise<unknown>;

const decorator = () =>
  once<[string, string?]>({
    operation: "charge",
    store: new MemoryStore(),
    key: (id) => id,
    leaseSeconds: 30,
  }) as unknown as Decorate;

async function charge(id: string, note?: string, own?: Execution) {
  return [id, note ?? null, own?.key];
}

describe("H87: A1: once, as a legacy decorator", () => {
  it("answers with a descriptor of the method, and keeps the rest of it", async () => {
    const descriptor = { value: charge, writable: true, configurable: true, enumerable: false };

    const answer = decorator()({}, "charge", descriptor) as PropertyDescriptor & { value: AnyMethod };

    expect(answer).toMatchObject({ writable: true, configurable: true, enumerable: false });
    expect([answer.value.name, answer.value.length]).toEqual(["charge", charge.length]);
    expect(await answer.value("o1", "soon")).toEqual(["o1", "soon", "o1"]);
    expect(await answer.value("o2")).toEqual(["o2", null, "o2"]);
  });

  it.each<[string, unknown[], string]>([
    ["a parameter", [{}, "charge", 0], "parameter"],
    ["a field", [{}, "charge", undefined], "field"],
    ["a field without a descriptor", [{}, "charge"], "field"],
    ["a field with an initializer", [{}, "charge", { value: charge, initializer: () => charge }], "field"],
    ["a field whose value isn't a function", [{}, "charge", { value: 1 }], "field"],
    ["an accessor", [{}, "charge", { get: () => charge }], "accessor"],
    ["a setter", [{}, "charge", { set: () => {} }], "accessor"],
    ["a class", [class Payments {}], "class or function"],
    ["a class with a second argument", [class Payments {}, undefined], "class or function"],
    ["an object", [{}], "an object"],
    ["nothing", [], "undefined"],
    ["a context that is none", [charge, null], "field"],
    ["a name instead of a context", [charge, "charge"], "field"],
    ["a method with one argument too many", [{}, "charge", { value: charge }, 1], "field"],
  ])("refuses %s when the class is defined", (_, given, kind) => {
    let refusal: unknown;
    try {
      decorator()(...given);
    } catch (error) {
      refusal = error;
    }

    expect(refusal).toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining(
        `\`method\` must be a method of a class, but \`@once\` is on a ${kind}: put`,
      ),
    });
  });

  it("leaves out what only the decorated function has", () => {
    const sloppy = new Function("id", "return id");
    const { value } = decorator()({}, "charge", { value: sloppy }) as { value: object };

    expect(Object.keys(Object.getOwnPropertyDescriptors(value)).sort()).toEqual(["length", "name"]);
  });
});

describe("H87: A1: once, as a standard decorator", () => {
  it("answers with the method", async () => {
    const method = decorator()(charge, { kind: "method", name: "charge" }) as AnyMethod;

    expect(await method("o1")).toEqual(["o1", null, "o1"]);
  });

  const OWN = "own";
  const takesAll = async (...args: unknown[]) => args;
  const takesThree = async (id: unknown, note: unknown, own: unknown, ...more: unknown[]) => [
    id,
    note,
    own,
    ...more,
  ];

  it.each<[string, AnyMethod, unknown[], unknown[]]>([
    ["after all arguments of a method that declares none", takesAll, ["o1", "soon"], ["o1", "soon", OWN]],
    ["alone, without any argument", takesAll, [], [OWN]],
    ["as the last declared parameter", takesThree, ["o1"], ["o1", undefined, OWN]],
    ["in place of an undefined one", takesThree, ["o1", "soon", undefined], ["o1", "soon", OWN]],
    ["after a value for the last parameter", takesThree, ["o1", "soon", "mine"], ["o1", "soon", "mine", OWN]],
    [
      "after more arguments than are declared",
      takesThree,
      ["o1", "soon", undefined, "gift"],
      ["o1", "soon", undefined, "gift", OWN],
    ],
  ])("passes the execution %s", async (_, body, given, wanted) => {
    const seen: unknown[][] = [];
    const method = Object.defineProperty(
      async (...args: unknown[]) => {
        seen.push((await body(...args)) as unknown[]);
      },
      "length",
      { value: body.length },
    );
    const decorate = once<unknown[]>({
      operation: "charge",
      store: new MemoryStore(),
      key: () => "key",
      fingerprint: () => 1,
      leaseSeconds: 30,
    }) as unknown as Decorate;

    await (decorate(method, { kind: "method" }) as AnyMethod)(...given);

    expect(
      seen.map((args) => args.map((each) => (Object(each).operation === "charge" ? OWN : each))),
    ).toEqual([wanted]);
  });

  it.each(["field", "accessor", "getter", "setter", "class"])("refuses a %s", (kind) => {
    expect(() => decorator()(undefined, { kind })).toThrow(new RegExp(`is on a ${kind}`));
  });
});

it("H87: A1: keeps what inner decorators have left on the method", () => {
  const metadata = new Map<unknown, Map<unknown, unknown>>();
  const reflect = Reflect as unknown as Record<string, unknown>;
  reflect.getOwnMetadataKeys = (target: object) => [...(metadata.get(target)?.keys() ?? [])];
  reflect.getOwnMetadata = (key: unknown, target: object) => metadata.get(target)?.get(key);
  reflect.defineMetadata = (key: unknown, value: unknown, target: object) =>
    metadata.set(target, (metadata.get(target) ?? new Map()).set(key, value));
  try {
    metadata.set(charge, new Map([["path", "/charges"]]));

    const method = decorator()(charge, { kind: "method" }) as object;

    expect(metadata.get(method)).toEqual(new Map([["path", "/charges"]]));
  } finally {
    for (const name of ["getOwnMetadataKeys", "getOwnMetadata", "defineMetadata"]) delete reflect[name];
  }
});
