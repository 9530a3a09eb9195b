// Handlers in the shapes of public samples: a handful of them. `page.test.ts` explores them all.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { exploreForeign, refusalOf } from "../../../show/foreign/explore-foreign.ts";
import { HANDLERS } from "../../../show/foreign/handlers.ts";
import { PAGE, sourcesLine } from "../../../show/foreign/page.ts";
import { REFUSED_HANDLERS } from "../../../show/foreign/refused-handlers.ts";

describe("a foreign handler gets the verdict that is right for it:", () => {
  it.each(["audit-callback-early.cjs", "event-request-id.ts", "notes-callback.cjs", "todo-create.mjs"])(
    "43.5: %s",
    async (name) => {
      const handler = HANDLERS.find(({ file }) => file === name)!;

      expect((await exploreForeign(handler)).wrong).toEqual([]);
    },
  );

  it("43.5: a report that isn't the expected one is reported as wrong, whichever way it errs", async () => {
    const handler = HANDLERS.find(({ file }) => file === "upload-photo.mjs")!;

    const { wrong } = await exploreForeign({ ...handler, right: [], says: "3 objects" });

    expect(wrong).toEqual([
      expect.stringMatching(
        /^upload-photo.mjs: found answer-differs, happens-twice, but right is exactly once/,
      ),
      expect.stringContaining('no finding says "3 objects"'),
    ]);
  });
});

describe("a foreign handler whose requests can't all be seen is refused:", () => {
  it.each(["convert-video.cjs", "worker-thread.cjs", "postgres.ts"])("43.5: %s", async (name) => {
    const handler = REFUSED_HANDLERS.find(({ file }) => file === name)!;

    expect(await refusalOf(handler)).toContain(handler.refusal);
  });
});

it("43.5: the page is of these handlers (npm run foreign writes it again)", () => {
  expect(readFileSync(PAGE, "utf8")).toContain(sourcesLine());
});
