import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** A path of the repository in code font; `*` and `<name>` stand for any name. */
const MENTION = /`((?:packages|e2e|bench|deploy|migrations|docs)\/[\w./-]+)`/g;
const LINK = /\]\(([^)\s]+)\)/g;

function pages(): string[] {
  const listed = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' });
  return listed.split('\n').filter((file) => file !== '' && existsSync(path.join(root, file)));
}

/** The anchors of a page's headings, as GitHub and GitLab make them. */
function anchors(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^#+ /.test(line))
    .map((line) =>
      line
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );
}

/** Whether a command makes this path, so that git ignores it. */
function isMade(named: string): boolean {
  return spawnSync('git', ['check-ignore', '--quiet', named], { cwd: root }).status === 0;
}

it('finds every relative link, its heading, and every path that a page names', () => {
  const missing: string[] = [];
  for (const page of pages()) {
    const text = readFileSync(path.join(root, page), 'utf8');
    for (const [, link = ''] of text.matchAll(LINK)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [target = '', anchor] = link.split('#');
      const file = target === '' ? page : path.join(path.dirname(page), target);
      const found = path.join(root, file);
      if (!existsSync(found)) missing.push(`${page} links to ${link}, which does not exist`);
      else if (anchor !== undefined && found.endsWith('.md') && !anchors(found).includes(anchor)) {
        missing.push(`${page} links to ${link}, which has no such heading`);
      }
    }
    for (const [, named = ''] of text.matchAll(MENTION)) {
      if (/NNNN|\.\.\./.test(named) || existsSync(path.join(root, named))) continue;
      if (isMade(named)) continue;
      missing.push(`${page} names ${named}, which does not exist`);
    }
  }
  expect(missing).toEqual([]);
});

it('docs/README.md leads to every page of docs, and lists every decision by its title', () => {
  const index = readFileSync(path.join(root, 'docs/README.md'), 'utf8');
  const found = new Set(['docs/README.md']);
  for (const page of found) {
    const text = readFileSync(path.join(root, page), 'utf8');
    for (const [, link = ''] of text.matchAll(LINK)) {
      const target = path.join(path.dirname(page), link.split('#')[0] ?? '');
      if (/^docs\/.*\.md$/.test(target) && existsSync(path.join(root, target))) found.add(target);
    }
  }
  const all = pages().filter((page) => page.startsWith('docs/'));
  expect(all.filter((page) => !found.has(page))).toEqual([]);
  const decisions = all.filter((page) => page.startsWith('docs/adr/'));
  expect(decisions.length).toBeGreaterThan(50);
  const entries = decisions.map((page) => {
    const [, number, title] =
      /^# (\d{4}): (.+)/.exec(readFileSync(path.join(root, page), 'utf8')) ?? [];
    return `[${number}](adr/${path.basename(page)}): ${title}`;
  });
  const listed = index.replaceAll(/\n {2}/g, ' ');
  expect(entries.filter((entry) => !listed.includes(entry))).toEqual([]);
});
