import { fileURLToPath } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import { callerFromJwt, type HttpIdempotencyOptions } from "onceonly";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { PROBLEM_STATUSES } from "../../../lib/lambda/http/problem.ts";
import { keyFromWebhook } from "../../../lib/lambda/http/webhooks.ts";
import { openApiFragment } from "../lib/openapi-fragment.ts";
import { runAlone } from "./world.ts";

interface Fragment {
  readonly components: {
    readonly pathItems: Record<string, Record<string, { responses: object; parameters?: object[] }>>;
    readonly parameters?: { readonly IdempotencyKey: Record<string, unknown> };
    readonly responses: Record<string, { readonly headers?: object }>;
  };
}

const options = { operation: "create-order", store: new MemoryStore(), scope: callerFromJwt() };

async function fragmentOf(more: Partial<HttpIdempotencyOptions<never>> = {}): Promise<Fragment> {
  const fragment = openApiFragment({ ...options, ...more });
  expect(await new Validator().validate(structuredClone(fragment) as Record<string, unknown>)).toEqual({
    valid: true,
  });
  return fragment as Fragment;
}

describe("openApiFragment", () => {
  it("is a valid document with the key, each method and each status that the code answers", async () => {
    const { components } = await fragmentOf();

    const { post, patch } = components.pathItems["create-order"]!;
    const statuses = new Set([200, 401, ...Object.values(PROBLEM_STATUSES)].map(String));
    expect(Object.keys(post!.responses).sort()).toEqual([...statuses].sort());
    expect(patch).toEqual(post);
    expect(components.parameters!.IdempotencyKey).toMatchObject({
      name: "Idempotency-Key",
      in: "header",
      required: true,
      description: expect.stringContaining("For 1 day, "),
    });
    expect(components.responses.IdempotencyKeyInProgress?.headers).toHaveProperty("Retry-After");
  });

  it("describes what the options configure: header, form, retention, methods, and that a key may be left out", async () => {
    const { components } = await fragmentOf({
      header: "X-Request-Key",
      keyFormat: "uuid",
      retentionSeconds: 172_800,
      methods: ["PUT"],
      whenKeyMissing: "run",
      strict: true,
    });

    expect(Object.keys(components.pathItems["create-order"]!)).toEqual(["put"]);
    const { name, required, description } = components.parameters!.IdempotencyKey;
    expect({ name, required }).toEqual({ name: "X-Request-Key", required: false });
    expect(description).toMatch(/in double quotes.* An RFC 9562 UUID\. For 2 days, /);
  });

  it("has no 401 and 403 if keys have no owner, and no header if the key comes from elsewhere", async () => {
    const { components } = await fragmentOf({ scope: "public", key: () => "a", operation: "pay for/it" });

    const { post } = components.pathItems["pay-for-it"]!;
    expect(Object.keys(post!.responses)).not.toContain("401");
    expect(Object.keys(post!.responses)).not.toContain("403");
    expect(post!.parameters).toBeUndefined();
    expect(components.parameters).toBeUndefined();
  });

  it("has 401 for a webhook that isn't signed, though its keys have no owner", async () => {
    const { components } = await fragmentOf({
      scope: "public",
      key: keyFromWebhook("github", { secret: "s".repeat(32) }) as never,
    });
    const statuses = Object.keys(components.pathItems["create-order"]!.post!.responses);
    expect(statuses).toContain("401");
    expect(statuses).not.toContain("403");
  });

  it("refuses options that the handler would refuse", () => {
    expect(() => openApiFragment({ ...options, retentionSeconds: 86_400_000 })).toThrow("retentionSeconds");
    expect(() => openApiFragment({ ...options, header: "" })).toThrow("header");
  });
});

describe("onceonly openapi", () => {
  it("prints the document of a module's options, and refuses a module without them", async () => {
    const module = fileURLToPath(new URL("options-given.ts", import.meta.url));
    const other = fileURLToPath(new URL("world.ts", import.meta.url));

    const { text } = await runAlone("openapi", [module]);
    await expect(runAlone("openapi", [other])).rejects.toThrow("must export the options");

    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(openApiFragment(options))));
  });
});
