// docs/proof/league.md shows the versions that are pinned, and what each row found.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { CONTESTANTS, folderOf, pinnedVersions } from "../../../show/league/contestants.ts";
import { leaguePage, type Row } from "../../../show/league/page.ts";

it("43.4: the page has every contestant, in the version that is pinned (npm run league writes it again)", () => {
  const page = readFileSync(folderOf("docs/proof/league.md"), "utf8");

  for (const [name, version] of Object.entries(pinnedVersions()))
    expect(page).toContain(`${name} ${version}`);
  for (const { library, adapter, store } of CONTESTANTS)
    expect(page).toContain(`| ${library} | ${adapter} | ${store} |`);
});

it("43.4: names what a library did wrong, and where it's ahead of us", () => {
  const [us, peer] = [CONTESTANTS.find(({ store }) => store === "Valkey")!, CONTESTANTS.at(-1)!];
  const rowOf = (contestant: Row["contestant"], verdict: "held" | "broken", kilobytes: number): Row => ({
    contestant,
    findings: [{ check: "race", verdict, says: "ten requests", repeat: [] }],
    trials: {
      afterFailure: "runs again",
      replaysLocation: true,
      replaysCookie: false,
      commands: [kilobytes, 1],
    },
    kilobytes,
  });

  const page = leaguePage(
    [rowOf(us, "held", 9), rowOf(peer, "broken", 5)],
    { [peer.library]: "1.0.6" },
    "2026-11-28",
  );

  expect(page).toContain(`| ${peer.library} | Express | Valkey | stripe | 0 | 0 | 1: race |`);
  expect(page).toContain(`### ${peer.library} (Express, Valkey)\n\n- broken, race: ten requests`);
  expect(page).toContain(`| less code | ${peer.library} (Express, Valkey): 5 KB | 9 KB |`);
  expect(page).toContain(
    `fewer Valkey commands for a run and its replay | ${peer.library} (Express, Valkey): 6 | 10 |`,
  );
});
