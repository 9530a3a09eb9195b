/** Why a file can't be read, in words. */

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EISDIR: "it's a folder",
  EACCES: "permission denied",
};

export function whyUnreadable({ code = "unknown error" }: Pick<NodeJS.ErrnoException, "code">): string {
  return REASONS[code] ?? code;
}
