import { expect, it } from '@jest/globals';
import { fakeTerminal } from '../../test/fake-terminal.ts';
import { dataText } from './data-text.ts';
import { parseOutput } from './formats.ts';
import { recordPrinter } from './record-printer.ts';

const items = [
  { name: 'charges', url: null, versions: [{ name: 'v1' }, { name: 'v2' }], 'a,b': 1 },
  { name: 'refunds\u001b[31m', versions: [] },
];

it('prints the values at each path below its title, and a dash for none', async () => {
  const columns = 'custom-columns=NAME:$.name,URL:url,VERSIONS:.versions[*].name,ODD:$["a,b"]';
  expect((await dataText(items, columns)).split('\n')).toEqual([
    'NAME               URL  VERSIONS  ODD',
    'charges            -    v1,v2     1',
    'refunds\\u001b[31m  -    -         -',
    '',
  ]);
});

it('prints items that come one after the other below one heading, in whole lines', async () => {
  const out: string[] = [];
  const narrow = fakeTerminal({ columns: 5, stdoutIsTerminal: true });
  const print = recordPrinter([], 'custom-columns=NAME:$.name', narrow, (text) => out.push(text));
  await print([{ name: 'charges' }]);
  await print([{ name: 'refunds' }]);
  expect(out).toEqual(['NAME\ncharges\n', 'refunds\n']);
});

it.each(['', 'NAME', ':$.name', 'NAME:', 'NAME:$.name,URL', 'NAME:$[?(@.a)]'])(
  'refuses the columns %j before anything is asked',
  (columns) => {
    expect(() => parseOutput(`custom-columns=${columns}`)).toThrow('Cannot read');
  },
);
