import { readFile, writeFile } from 'node:fs/promises';

/** Replaces what stands between the `begin` and `end` markers of a section in a Markdown file. */
export async function writeSection(file: URL, name: string, text: string): Promise<void> {
  await writeFile(file, replaceSection(await readFile(file, 'utf8'), name, text));
}

/** @throws if the document does not contain both markers of the section */
export function replaceSection(document: string, name: string, text: string): string {
  const begin = `<!-- begin ${name} -->`;
  const end = `<!-- end ${name} -->`;
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from < 0 || to < from) throw new Error(`the document has no section "${name}"`);
  return `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`;
}
