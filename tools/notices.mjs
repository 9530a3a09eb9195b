// The licences and notices of the packages that bundles contain: anyone who distributes their code must include these.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const FILES = /^(licen[cs]e|notice|copying)([.-].*)?$/i;
const RULE = "-".repeat(80);

/**
 * All of them in one file: each licence once, with its packages.
 * @param {readonly { name: string, version: string, license: string, folder: string }[]} packages
 * @param {string} holder the package that contains them
 */
export function noticesOf(packages, holder = "functions of this folder contain") {
  /** @type {Map<string, string[]>} */
  const holders = new Map();
  for (const { name, version, license, folder } of packages) {
    for (const text of textsIn(folder, name, license)) {
      holders.set(text, [...(holders.get(text) ?? []), `${name} ${version} (${license})`]);
    }
  }
  const parts = [...holders].map(([text, names]) => `${names.join("\n")}\n\n${text}`);
  return `The ${holder} code of these packages.\n\n${parts.map((part) => `${RULE}\n${part}`).join("\n\n")}\n`;
}

/** Some packages of AWS name their licence, Apache-2.0, and do not repeat its text, which is this package's own too. */
function textsIn(folder, name, license) {
  const found = readdirSync(folder)
    .filter((file) => FILES.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  if (found.length > 0) return found;
  if (license === "Apache-2.0") return [readFileSync(join(root, "LICENSE"), "utf8").trim()];
  throw new Error(`${name} is bundled under ${license}, and its text is not in the package: add it by hand`);
}
