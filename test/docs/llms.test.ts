// docs/README.md lists every page, and llms.txt is made from it: npx vitest run test/docs/llms.test.ts -u
// https://llmstxt.org
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, it } from "vitest";
import { PROJECT_URL } from "../../lib/contract.ts";
import { documents, root } from "../kit/project.ts";

const RAW = `${PROJECT_URL.replace("github.com", "raw.githubusercontent.com")}/main`;
const { description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The sections of docs/README.md, with the links of their tables. */
const sections = readFileSync(join(root, "docs/README.md"), "utf8")
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    title: section.slice(0, section.indexOf("\n")),
    pages: [...section.matchAll(/^\| (\[.+) \| (.+) \|$/gm)].flatMap(([, links = "", about = ""]) =>
      [...links.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, name = "", path = ""]) => ({
        name,
        path,
        about,
      })),
    ),
  }));

const linksTo = (text: string, from: string) =>
  text.replace(/\]\((?!https:)([^)]+)\)/g, (_, path) => `](${RAW}/${posix.join(from, path)})`);

it("lists every page of the documentation", () => {
  const listed = sections.flatMap(({ pages }) => pages.map(({ path }) => `docs/${path}`));

  expect(listed.sort()).toEqual(documents.filter((file) => /^docs\/(?!README)/.test(file)));
});

it("are made into llms.txt", async () => {
  const text = [
    "# onceonly",
    `> ${description}`,
    `Start with the [README](${RAW}/README.md). [AGENTS.md](${RAW}/AGENTS.md) is for work on onceonly itself, [CHANGELOG.md](${RAW}/CHANGELOG.md) for what changed.`,
    ...sections.map(({ title, pages }) =>
      [
        // Proof is what a reader may leave out if there is no room.
        `## ${title === "Proof" ? "Optional" : title}\n`,
        ...pages.map(
          ({ name, path, about }) => `- [${name}](${RAW}/docs/${path}): ${linksTo(about, "docs")}`,
        ),
      ].join("\n"),
    ),
  ];

  await expect(`${text.join("\n\n")}\n`).toMatchFileSnapshot(join(root, "llms.txt"));
});
