// What people copy from a document must not share the answers of one caller with all others.
import { describe, expect, it } from "vitest";
import { typescriptFences } from "../kit/fences.ts";
import { documents } from "../kit/project.ts";

const ofHttp = documents
  .flatMap((document) => typescriptFences(document))
  .filter(({ code }) => /\bhttpIdempoten(cy|t)\(/.test(code));

describe("the documents", () => {
  it("show HTTP operations in several places", () => {
    expect(new Set(ofHttp.map(({ file }) => file)).size).toBeGreaterThan(2);
  });

  it.each(ofHttp.map(({ file, line, code }) => [`${file}:${line}`, code]))(
    "gives the keys of an HTTP operation to its caller, not to everybody: %s",
    (_, code) => {
      expect(code).toMatch(/\bscope\b/);
      // The signature identifies the sender of a webhook, so its keys can be public.
      if (/\bkeyFromWebhook\(/.test(code)) return;
      expect(code).toMatch(/\bcallerFrom\w+\(/);
      expect(code).not.toMatch(/["']public["']/);
    },
  );
});
