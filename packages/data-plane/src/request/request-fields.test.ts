import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { isReservedField } from '@gateway/shared/http/reserved-fields';
import {
  REQUEST_FIELDS,
  type Differing,
  type Forwarded,
  type RequestField,
} from './request-fields.ts';

const PAGE = new URL('../../../../docs/understand/request-flow.md', import.meta.url);

const DIFFERING: Readonly<Record<Differing, string>> = {
  refused: 'refused',
  refused_of_proxy: 'refused from a trusted proxy, otherwise unread',
  refused_in_options: 'refused in `OPTIONS`, otherwise unread',
  ignored: 'none counts',
  list: 'one list',
  unread: 'unread',
};

const FORWARDED: Readonly<Record<Forwarded, string>> = {
  yes: 'what the caller sent',
  unless_ours: 'what the caller sent, unless it is for the gateway',
  replaced: 'what the gateway sets',
  no: 'nothing',
};

/** The rows of the table under this heading, each cell without the spaces around it. */
function rowsUnder(heading: string): string[][] {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split(`\n## ${heading}\n`);
  const lines = section.split('\n## ', 1)[0]?.split('\n') ?? [];
  const rows = lines.filter((line) => line.startsWith('|')).slice(2);
  return rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

it('the table of request fields in docs is the one that the gateway uses', () => {
  const documented = rowsUnder('Repeated headers').map(([name = '', ...cells]) => [
    name.replaceAll('`', '').toLowerCase(),
    ...cells,
  ]);
  const used = Object.entries<RequestField>(REQUEST_FIELDS).map(
    ([name, { differing, forwarded }]) => [name, DIFFERING[differing], FORWARDED[forwarded]],
  );
  expect(documented).toEqual(used);
});

it('no route rewrites a field on which the gateway acts, or that it keeps from the upstream', () => {
  const free = Object.keys(REQUEST_FIELDS).filter((name) => !isReservedField(name, 'request'));
  // One that says to the gateway what the caller sends, whatever the upstream gets, those of browsers, and one under which
  // the gateway itself says nothing.
  expect(free).toEqual([
    ...[
      'content-type',
      'origin',
      'access-control-request-method',
      'access-control-request-headers',
    ],
    ...['sec-fetch-mode', 'x-real-ip'],
  ]);
});
