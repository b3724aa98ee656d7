import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fakeTerminal } from '../../test/fake-terminal.ts';
import { tableLines, type Column } from './table.ts';

interface Row {
  readonly at: string;
  readonly path: string;
  readonly id: string;
}
const columns: readonly Column<Row>[] = [
  { title: 'TIME', time: true, of: ({ at }) => at },
  { title: 'RETRIES', leftOut: 1, of: () => 0 },
  { title: 'PATH', shrinks: 15, keepsEnd: true, of: ({ path }) => path },
  { title: 'ID', of: ({ id }) => id, style: () => 'red' },
];
const row = { at: '2030-01-01T00:00:00.123Z', path: '/v1/proxy/charges/orders/17', id: 'req_1' };
const colour = (style: string, text: string) => (style === 'red' ? `<${text}>` : text);

it('shows everything in a pipe, however narrow', () => {
  expect(tableLines([row], columns, fakeTerminal({ columns: 20 }))).toEqual([
    'TIME                      RETRIES  PATH                         ID',
    '2030-01-01T00:00:00.123Z  0        /v1/proxy/charges/orders/17  req_1',
  ]);
});

it('fits the lines of a terminal: cells are cut first, then columns are left out', () => {
  const terminal = (width: number) => fakeTerminal({ columns: width, stdoutIsTerminal: true });
  expect(tableLines([row], columns, terminal(45))).toEqual([
    'TIME       RETRIES  PATH                ID',
    '00:00:00Z  0        …charges/orders/17  req_1',
  ]);
  expect(tableLines([row], columns, terminal(40))).toEqual([
    'TIME       PATH                    ID',
    '00:00:00Z  …oxy/charges/orders/17  req_1',
  ]);
  expect(tableLines([row], columns, terminal(26))).toEqual([
    'TIME       PATH      ID',
    '00:00:00Z  …ders/17  req_1',
  ]);
});

it('colours a cell without its padding, so that columns stay aligned', () => {
  const look = fakeTerminal({ colour });
  const [, line] = tableLines([row, { ...row, id: 'r' }], [columns[3], columns[2]] as never, look);
  expect(line).toBe('<req_1>  /v1/proxy/charges/orders/17');
  const [, , short] = tableLines(
    [row, { ...row, id: 'r' }],
    [columns[3], columns[2]] as never,
    look,
  );
  expect(short).toBe('<r>      /v1/proxy/charges/orders/17');
});

it('has no line that is longer than the terminal, if its columns may be cut', () => {
  const cut: readonly Column<string[]>[] = [0, 1, 2].map((at) => ({
    title: 'T',
    shrinks: 12,
    of: (cells: string[]) => cells[at],
  }));
  const cells = fc.array(fc.array(fc.string({ maxLength: 90 }), { minLength: 3, maxLength: 3 }));
  fc.assert(
    fc.property(cells, fc.integer({ min: 28, max: 200 }), (rows, width) => {
      const lines = tableLines(rows, cut, fakeTerminal({ columns: width, stdoutIsTerminal: true }));
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
    }),
    { seed: 42 },
  );
});
