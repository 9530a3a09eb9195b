// Packages that an entry needs as soon as it is loaded. If one isn't installed, the entry says what to install: Node's own
// error names a file in dist/ and no command. Bundlers still see a plain import, so they inline the package and drop what
// isn't used, or leave it outside.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** By package, the entry that needs it. */
const NEEDED_BY = {
  "@aws-sdk/client-dynamodb": "onceonly/dynamodb",
  "@opentelemetry/api": "onceonly/otel",
};

const FOLDER = "peers";

/**
 * `imports` of the manifest. `node-addons` is the one condition that Node has and bundlers don't. A bundler that had it too
 * would leave the package outside, as Node does.
 */
export const PEER_IMPORTS = {
  [`#${FOLDER}/*`]: { "node-addons": `./dist/esm/${FOLDER}/node/*.js`, default: `./dist/esm/${FOLDER}/*.js` },
};

/** `@aws-sdk/client-dynamodb` → `client-dynamodb`, and `@opentelemetry/api` → `opentelemetry-api` */
const fileOf = (peer) =>
  peer
    .replace(/^@aws-sdk\//, "")
    .replace(/^@/, "")
    .replace("/", "-");

/** Runs `load`, and throws what to install if it doesn't find the package. */
const loading = (peer, load) =>
  `(()=>{try{return ${load}}catch(cause){` +
  `if(!\`\${cause?.message}\`.startsWith("Cannot find module '${peer}'"))throw cause;` +
  `throw Object.assign(new Error("${NEEDED_BY[peer]} needs ${peer}: npm install ${peer}",{cause}),{code:cause.code})}})()`;

const IMPORT = /\bimport\s*\{([^}]*)\}\s*from\s*"([^"]+)"/g;

/**
 * Redirects the imports of these packages in ES modules to our own modules: one for Node, and one for bundlers.
 * @param {string} outdir the modules' folder
 * @param {readonly string[]} modules their paths in it
 */
export async function nameMissingPeers(outdir, modules) {
  /** @type {Map<string, Set<string>>} */
  const namesOf = new Map(Object.keys(NEEDED_BY).map((peer) => [peer, new Set()]));
  for (const module of modules) {
    const file = join(outdir, module);
    const text = await readFile(file, "utf8");
    const changed = text.replace(IMPORT, (statement, list, peer) => {
      const names = namesOf.get(peer);
      if (names === undefined) return statement;
      for (const name of list.split(",")) names.add(name.trim().replace(/\s+as\s.*/, ""));
      return statement.replace(`"${peer}"`, `"#${FOLDER}/${fileOf(peer)}"`);
    });
    if (changed !== text) await writeFile(file, changed);
  }
  await mkdir(join(outdir, FOLDER, "node"), { recursive: true });
  for (const [peer, names] of namesOf) {
    const list = [...names].sort().join(",");
    const required = loading(peer, `createRequire(import.meta.url)("${peer}")`);
    await writeFile(join(outdir, FOLDER, `${fileOf(peer)}.js`), `export{${list}}from"${peer}";\n`);
    await writeFile(
      join(outdir, FOLDER, "node", `${fileOf(peer)}.js`),
      `import{createRequire}from"node:module";\nexport const{${list}}=${required};\n`,
    );
  }
}

/** The same in CommonJS, in which bundlers see the `require`. @param {string} code */
export const nameMissingPeersInCommonJs = (code) =>
  Object.keys(NEEDED_BY).reduce(
    (text, peer) => text.replaceAll(`require("${peer}")`, (load) => loading(peer, load)),
    code,
  );
