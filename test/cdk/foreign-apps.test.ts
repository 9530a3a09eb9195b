// Apps that are not ours under the rules of cdk-nag. What they take from onceonly adds no finding, but for what
// docs/operate/security.md says that an app has to give.
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../kit/project.ts";
import { findingsOfApp } from "./nag-given.ts";

let home: string;
beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "foreign-apps-")));
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** The paths of what an app takes from onceonly. */
const OURS: Record<string, readonly string[]> = {
  "ticket-office": ["TicketOffice/Records/", "TicketOffice/Tickets/"],
  "parcel-service": ["Desk/Records/"],
  "shop-stages": ["Beta/Data/Records/", "Prod/Data/Records/"],
  "freight-desk": ["FreightDesk/Records/", "FreightDesk/Loads/", "FreightDesk/Outbox/"],
};

/** `OutboxRelay` takes a `vpc`, `reservedConcurrentExecutions` and a `logEncryptionKey`, and this app gives none. */
const NOT_GIVEN =
  /^FreightDesk\/Outbox\/\w+\/Resource: [\w.]+-(LambdaInsideVPC|LambdaConcurrency|CloudWatchLogGroupEncrypted)$/;

describe("foreign apps under AwsSolutions, NIST 800-53, HIPAA and PCI", () => {
  it.each(Object.entries(OURS))(
    "%s has no finding in our constructs",
    { timeout: 180_000 },
    async (app, ours) => {
      const folder = join(root, "test/fixtures", app);
      const { open: findings } = await findingsOfApp(folder, "app.ts", join(home, app));

      const others = findings.filter((line) => !ours.some((path) => line.startsWith(path)));
      // The packs have looked: each of these apps has functions outside of a VPC.
      for (const pack of ["AwsSolutions", "NIST.800.53.R5", "HIPAA.Security", "PCI.DSS.321"]) {
        expect(others.some((line) => line.includes(`: ${pack}-`))).toBe(true);
      }
      expect(findings.filter((line) => !others.includes(line) && !NOT_GIVEN.test(line))).toEqual([]);
    },
  );
});
