// The built site as files: its pages, their links and their anchors.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { root } from "../kit/project.ts";

export const SITE = join(root, "site");
/** Where GitHub Pages serves it: below the name of the project. */
export const BASE = "/onceonly/";

export interface BuiltPage {
  /** Such as `/onceonly/guides/http`. */
  readonly address: string;
  readonly html: string;
}

export function builtPages(): BuiltPage[] {
  return readdirSync(SITE, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".html") && file !== "404.html")
    .map((file) => file.replaceAll("\\", "/"))
    .sort()
    .map((file) => ({
      address: `${BASE}${file.replace(/(?:(?<=^|\/)index)?\.html$/, "")}`,
      html: readFileSync(join(SITE, file), "utf8"),
    }));
}

/** The file that a server gives for an address, as GitHub Pages does; `undefined` if there is none. */
export function fileAt(address: string): string | undefined {
  if (!address.startsWith(BASE)) return undefined;
  const path = decodeURI(address.slice(BASE.length));
  const wanted = path === "" || path.endsWith("/") ? [`${path}index.html`] : [path, `${path}.html`];
  return wanted.find((file) => files().has(file));
}

let known: ReadonlySet<string> | undefined;
function files(): ReadonlySet<string> {
  known ??= new Set(
    readdirSync(SITE, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) =>
        posix.join(parentPath.slice(SITE.length + 1).replaceAll("\\", "/"), name),
      ),
  );
  return known;
}

/** Targets of links, images and scripts that lead to the site itself, as absolute addresses, each with its anchor. */
export function ownTargets({ address, html }: BuiltPage): string[] {
  return [...html.matchAll(/\s(?:href|src)="([^"]*)"/g)]
    .map(([, target = ""]) => unescaped(target))
    .filter((target) => !/^([a-z]+:|\/\/)/i.test(target))
    .map((target) => {
      const { pathname, hash } = new URL(target, `http://site${address}`);
      return `${pathname}${hash}`;
    });
}

export function anchorsOf(html: string): ReadonlySet<string> {
  return new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = ""]) => unescaped(id)));
}

function unescaped(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
}
