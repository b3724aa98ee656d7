import { describe, expect, it } from '@jest/globals';
import { chooseCommand, choice, command, flag, names, text, whole } from './command.ts';
import { LEAD_IN_SECONDS, rows, SAME_LOAD_FACTOR, chooseRows } from './workloads/rows.ts';

const none = () => Promise.resolve();
const first = command({
  name: 'first',
  summary: 'the default',
  options: {
    roundSeconds: whole(1, [1, 60], 'length'),
    only: names('some rows'),
    folder: text(undefined, 'a folder'),
    form: choice(['named', 'compact'], 'named', 'the form'),
    write: flag('write'),
  },
  run: none,
});
const second = command({ name: 'second', summary: '', argument: '[x]', options: {}, run: none });

function parse(...argv: readonly string[]) {
  const chosen = chooseCommand([first, second], argv);
  if (typeof chosen === 'string') throw new Error('help was printed');
  return { name: chosen.command.name, values: chosen.values, args: chosen.args };
}

describe('the command line of the bench', () => {
  it('runs the first command with its defaults if none is named', () => {
    const values = { roundSeconds: 1, only: [], folder: undefined, form: 'named', write: false };
    expect(parse()).toEqual({ name: 'first', values, args: [] });
  });

  it('reads options, with and without the name of the command, and arguments', () => {
    const argv = [
      '--round-seconds',
      '2',
      '--only',
      'floor,gateway',
      '--form',
      'compact',
      '--write',
    ];
    const values = { roundSeconds: 2, only: ['floor', 'gateway'], form: 'compact', write: true };
    expect(parse(...argv).values).toMatchObject(values);
    expect(parse('first', ...argv).values).toMatchObject(values);
    expect(parse('second', 'a', 'b').args).toEqual(['a', 'b']);
  });

  it.each([
    [['third'], 'unknown command: third'],
    [['first', '--round-seconds', '61'], '--round-seconds: must be a whole number from 1 to 60'],
    [['first', '--round-seconds', 'x'], '--round-seconds: must be a whole number from 1 to 60'],
    [['first', '--form', 'other'], '--form: must be one of named, compact'],
    [['first', 'argument'], 'argument'],
    [['first', '--unknown'], '--unknown'],
  ])('refuses %j and shows the help', (argv, message) => {
    expect(() => chooseCommand([first, second], argv)).toThrow(message);
    expect(() => chooseCommand([first, second], argv)).toThrow('npm run bench');
  });

  it('shows each option with its default', () => {
    const help = chooseCommand([first, second], ['first', '--help']);
    expect(help).toContain('--round-seconds <value>: length (1)');
    expect(chooseCommand([first, second], ['--help'])).toContain('second');
  });

  it('measures all rows in about twelve minutes without options', () => {
    const chosen = chooseCommand([rows], []);
    const { values } = chosen as { values: Record<string, number> };
    const { rounds = NaN, roundSeconds = NaN, warmUpSeconds = NaN } = values;
    const turn = 2 * LEAD_IN_SECONDS + roundSeconds * (1 + SAME_LOAD_FACTOR);
    const minutes = (chooseRows([]).length * (warmUpSeconds + rounds * turn)) / 60;
    expect(minutes).toBeGreaterThan(11);
    expect(minutes).toBeLessThan(13);
  });

  it('measures some rows, always with nginx first', () => {
    expect(chooseRows(['floor', 'gateway']).map(({ name }) => name)).toEqual([
      'nginx',
      'floor',
      'gateway',
    ]);
    expect(() => chooseRows(['envoy'])).toThrow('unknown: envoy; there are: nginx, HAProxy');
  });
});
