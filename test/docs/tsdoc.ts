// What TSDoc says of options and errors, read from the sources, so that a page can't say anything else.
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "@typescript/typescript6";
import { root } from "../kit/project.ts";

export interface Member {
  readonly name: string;
  /** As the source has it. */
  readonly type: string;
  readonly isOptional: boolean;
  readonly text: string;
  /** Of `@default`; `undefined` without one. */
  readonly default: string | undefined;
}

export interface DocumentedClass {
  readonly name: string;
  readonly text: string;
  /** Its public fields that have a text. */
  readonly fields: readonly Member[];
}

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(join(root, file), "utf8"), ts.ScriptTarget.Latest, true);
}

/** The members of an interface that it declares itself. */
export function membersOf(file: string, name: string): Member[] {
  const source = parse(file);
  const found = source.statements.find(
    (statement): statement is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(statement) && statement.name.text === name,
  );
  if (found === undefined) throw new Error(`${file} has no interface ${name}`);
  return found.members.filter(ts.isPropertySignature).map((member) => memberFrom(member, source));
}

/** The exported classes, in the order of the source. */
export function classesOf(file: string): DocumentedClass[] {
  const source = parse(file);
  return source.statements
    .filter((statement): statement is ts.ClassDeclaration => ts.isClassDeclaration(statement))
    .map((statement) => ({
      name: statement.name?.text ?? "",
      text: textOf(statement),
      fields: statement.members
        .filter(ts.isPropertyDeclaration)
        .map((member) => memberFrom(member, source))
        .filter(({ text }) => text !== ""),
    }));
}

function memberFrom(member: ts.PropertySignature | ts.PropertyDeclaration, source: ts.SourceFile): Member {
  const [tag] = ts.getJSDocTags(member).filter(({ tagName }) => tagName.text === "default");
  return {
    name: member.name.getText(source),
    type: (member.type?.getText(source) ?? "").replaceAll(/\s+/g, " ").replace(/^\| /, ""),
    isOptional: member.questionToken !== undefined,
    text: textOf(member),
    default: tag && inOneLine(ts.getTextOfJSDocComment(tag.comment)),
  };
}

/** Paragraphs are separated by an empty line. */
function textOf(node: ts.Node): string {
  const comment = ts.getJSDocCommentsAndTags(node).find(ts.isJSDoc)?.comment;
  const paragraphs = (ts.getTextOfJSDocComment(comment) ?? "").split(/\n\s*\n/);
  return paragraphs.map(inOneLine).join("\n\n");
}

function inOneLine(text: string | undefined): string {
  return (text ?? "").replaceAll(/\s*\n\s*/g, " ").trim();
}

/** TSDoc names a page as `docs/guides/keys.md`, which editors show as text. A page of `folder` in docs links to it. */
export function withLinks(text: string, folder: string): string {
  return text.replaceAll(/(?<![\w/]|\]\()docs\/([\w/-]+)\.md/g, (named, page) =>
    existsSync(join(root, "docs", `${page}.md`))
      ? `[${page}](${posix.relative(folder, `${page}.md`)})`
      : named,
  );
}

/** In a cell of a table. */
export function inCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n\n", "<br><br>");
}
