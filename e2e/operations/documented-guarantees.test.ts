import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

const root = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

/** The first column of the table. */
function guarantees(): string[] {
  const rows = read('docs/understand/guarantees.md').matchAll(/^\| (.*?) +\|/gm);
  return [...rows].map(([, text = '']) => text).filter((text) => !/^(guarantee$|-)/.test(text));
}

/** The tests of each guarantee: a file and a part of the title of a test. */
function listed(): Map<string, { file: string; title: string }[]> {
  const [, section = ''] = read('docs/contribute/tests.md').split('## Guarantees\n');
  const items = section.split(/^- /m).slice(1);
  return new Map(
    items.map((item) => {
      const [guarantee = '', ...tests] = item.replaceAll(/\n {2,}(?!- )/g, ' ').split(/\n {2}- /);
      const named = tests.map((test) => /^`(?<file>[^`]+)`: (?<title>.+)$/.exec(test.trim()));
      return [
        guarantee.replaceAll('\n', ' ').trim(),
        named.map((one) => ({
          file: one?.groups?.['file'] ?? '',
          title: one?.groups?.['title'] ?? '',
        })),
      ];
    }),
  );
}

it('each guarantee has a test, and each test that is named for one exists', () => {
  const tests = listed();
  expect([...tests.keys()]).toEqual(guarantees());
  expect(tests.size).toBeGreaterThan(20);
  const isMissing = ({ file, title }: { file: string; title: string }) =>
    title === '' || !existsSync(new URL(file, root)) || !read(file).includes(title);
  const missing = [...tests].flatMap(([guarantee, all]) =>
    all.length === 0
      ? [guarantee]
      : all.filter(isMissing).map(({ file, title }) => `${file}: ${title}`),
  );
  expect(missing).toEqual([]);
});
