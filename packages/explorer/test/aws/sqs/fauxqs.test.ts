// Another emulator of SQS, by other people, runs the same cases. A behaviour that both emulator and model show is unlikely
// to be a mistake. Cases that let time pass are left out, since fauxqs has no clock to give.
import { startFauxqs } from "fauxqs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sqsCases } from "./cases/all.ts";
import { FAUXQS_DIFFERENCES } from "./cases/fauxqs-differences.ts";
import { sdkSubject } from "./cases/sdk-subject.ts";
import type { SqsSubject } from "./cases/subject.ts";

/** Its codes all start like those few of AWS that do; without that there would be nothing to compare in errors. */
function withAwsNames(subject: SqsSubject): SqsSubject {
  return {
    ...subject,
    call: (name, input) =>
      subject.call(name, input).catch((error: Error) => {
        error.name = error.name.replace("AWS.SimpleQueueService.", "");
        throw error;
      }),
  };
}

const cases = Object.values(sqsCases)
  .flat()
  .filter(({ takesTime }) => !takesTime);

describe("fauxqs", () => {
  let subject: SqsSubject;

  beforeEach(async () => {
    const server = await startFauxqs({ port: 0, host: "127.0.0.1", logger: false });
    const endpoint = `http://127.0.0.1:${server.port}`;
    subject = withAwsNames(sdkSubject({ endpoint, stop: () => server.stop() }));
  });

  afterEach(() => subject.stop());

  describe("agrees with the model:", () => {
    for (const { title, run } of cases) {
      if (FAUXQS_DIFFERENCES[title] === undefined) it(title, () => run(subject));
    }
  });

  // These fail, as long as fauxqs is as it is said to be.
  describe("is not like AWS:", () => {
    for (const { title, run } of cases) {
      const difference = FAUXQS_DIFFERENCES[title];
      if (difference !== undefined) it.fails(`${title}; fauxqs ${difference}`, () => run(subject));
    }
  });

  it("differs in cases that there are", () => {
    const titles = cases.map(({ title }) => title);

    expect(Object.keys(FAUXQS_DIFFERENCES).filter((title) => !titles.includes(title))).toEqual([]);
  });
});
