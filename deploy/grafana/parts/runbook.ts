import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A section of docs/run/runbooks.md. */
export interface Runbook {
  /** Of its panel. */
  readonly id: number;
  readonly title: string;
  readonly anchor: string;
  readonly text: string;
}

export const RUNBOOKS_UID = 'gateway-runbooks';
const PAGE = 'docs/run/runbooks.md';

const runbooks = readRunbooks();

/** All sections of docs/run/runbooks.md, in their order. */
export function allRunbooks(): readonly Runbook[] {
  return runbooks;
}

/**
 * The section that a link such as `docs/run/runbooks.md#anchor` leads to.
 *
 * @throws Error if there is none
 */
export function runbookAt(link: string): Runbook {
  const found = runbooks.find(({ anchor }) => link === `${PAGE}#${anchor}`);
  if (found === undefined) throw new Error(`${link} does not exist`);
  return found;
}

/** The address of a section in Grafana: the dashboard of runbooks with this panel alone. */
export function runbookUrl({ id }: Runbook): string {
  return `/d/${RUNBOOKS_UID}?viewPanel=${id}`;
}

function readRunbooks(): Runbook[] {
  const page = readFileSync(new URL(`../../../${PAGE}`, import.meta.url), 'utf8');
  const [, ...sections] = page.split(/^## /m);
  return sections.map((section) => {
    const end = section.indexOf('\n');
    const title = section.slice(0, end).trim();
    const anchor = title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-');
    return { id: idOf(anchor), title, anchor, text: withoutLinks(section.slice(end).trim()) };
  });
}

/** The same in each release, so that a link of an alert leads to its section after another was added. */
function idOf(anchor: string): number {
  return Number.parseInt(hash('sha256', anchor).slice(0, 7), 16);
}

/** Links of the page lead to files that Grafana does not have. So the name of the file follows the text of the link. */
function withoutLinks(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\(([^)#]+)[^)]*\)/g, (_link, words: string, file: string) => {
    const { pathname } = new URL(file, 'file:///docs/run/');
    return `${words} (\`${pathname.slice(1)}\`)`;
  });
}
