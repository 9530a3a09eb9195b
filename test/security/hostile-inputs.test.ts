// Thousands of inputs that an attacker, a wrong option or an odd value may send. The counts stand in docs/operate/security.md; to
// write them anew: npx vitest run test/security -u
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { expectGenerated } from "../kit/generated.ts";
import { addresses } from "./cases/addresses.ts";
import { assemblies } from "./cases/assemblies.ts";
import { bodies } from "./cases/bodies.ts";
import { envelopes } from "./cases/envelopes.ts";
import { errors } from "./cases/errors.ts";
import { keys } from "./cases/keys.ts";
import { messages } from "./cases/messages.ts";
import { scopes } from "./cases/scopes.ts";
import { stored } from "./cases/stored-items.ts";
import { hold, type Suite, type Tally, tryAll } from "./world.ts";

const SUITES = [
  scopes,
  keys,
  envelopes,
  bodies,
  stored,
  addresses,
  messages,
  errors,
  assemblies,
] as unknown as readonly Suite[];

interface Tried {
  readonly suite: Suite;
  readonly tally: Tally;
}

describe("hostile inputs", () => {
  const tried: Tried[] = [];

  beforeAll(() => {
    // What answers 500 goes to the log.
    vi.spyOn(console, "error").mockImplementation(() => {});
  });
  afterAll(() => {
    vi.restoreAllMocks();
  });

  it.each(SUITES.map((suite) => [suite.title, suite] as const))(
    "are rejected, or read as what they are: %s",
    async (title, suite) => {
      const tally = await tryAll(suite);
      await suite.close?.();
      tried.push({ suite, tally });
      console.log(
        `${title}: ${tally.tried} tried, ${tally.refused} refused, ${tally.accepted} read as what they are`,
      );

      expect(tally.weaknesses.slice(0, 20)).toEqual([]);
      expect(tally.refused + tally.accepted).toBe(tally.tried);
    },
    180_000,
  );

  it("are more than 5,000, as docs/operate/security.md says", async () => {
    const all = tried.reduce((sum, { tally }) => sum + tally.tried, 0);
    console.log(`hostile inputs: ${all} tried`);

    expect(all).toBeGreaterThan(5000);
    await expectGenerated("docs/operate/security.md", { "hostile inputs": tableOf(tried) });
  });
});

function tableOf(tried: readonly Tried[]): string {
  const rows = tried.map(({ suite, tally }) =>
    row(
      suite.title,
      counted(tally.tried),
      counted(tally.refused),
      counted(tally.accepted),
      suite.what,
      suite.promise,
    ),
  );
  const sum = (of: (tally: Tried["tally"]) => number) =>
    counted(tried.reduce((all, { tally }) => all + of(tally), 0));
  return [
    row("", "tried", "refused", "accepted", "what is tried", "what must hold"),
    "|---|---|---|---|---|---|",
    ...rows,
    row(
      "all",
      sum(({ tried }) => tried),
      sum(({ refused }) => refused),
      sum(({ accepted }) => accepted),
      "",
      "",
    ),
  ].join("\n");
}

const row = (...cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const counted = (count: number) => count.toLocaleString("en-US");

describe("tryAll", () => {
  const suiteOf = (judge: (input: number) => "refused" | "accepted") => ({
    title: "numbers",
    what: "",
    promise: "",
    inputs: () => [1, 2, 2, 3],
    judge,
  });

  it("counts an input that is there twice once", async () => {
    expect(await tryAll(suiteOf((input) => (input > 2 ? "refused" : "accepted")))).toEqual({
      tried: 3,
      refused: 1,
      accepted: 2,
      weaknesses: [],
    });
  });

  it("names each input that showed a weakness, and goes on", async () => {
    const judge = (input: number) => {
      hold(input !== 2, "two is a weakness");
      return "accepted" as const;
    };

    expect(await tryAll(suiteOf(judge))).toEqual({
      tried: 3,
      refused: 0,
      accepted: 2,
      weaknesses: ["2: two is a weakness"],
    });
  });
});
