import { describe, expect, it } from '@jest/globals';
import { benchCommand, type Runs } from './command-line.ts';
import { chooseRows } from './peers/all.ts';
import { LEAD_IN_SECONDS, SAME_LOAD_FACTOR } from './rows/run-rows.ts';

/** Parses a command line; gives the subcommand with its options, and throws what it would print. */
async function parse(...args: readonly string[]): Promise<{ ran: string; options: unknown }> {
  let result: { ran: string; options: unknown } | undefined;
  const noteRun = (ran: string) => (options?: unknown) => {
    result = { ran, options };
    return Promise.resolve();
  };
  const runs: Runs = {
    rows: noteRun('rows'),
    workloads: noteRun('workloads'),
    compare: noteRun('compare'),
    curves: noteRun('curves'),
    latency: noteRun('latency'),
    profile: noteRun('profile'),
    allocations: noteRun('allocations'),
    attack: noteRun('attack'),
    bulkheads: noteRun('bulkheads'),
    overload: noteRun('overload'),
    workers: noteRun('workers'),
    configChange: noteRun('config-change'),
    ingest: noteRun('ingest'),
    nats: noteRun('nats'),
    records: noteRun('records'),
    statistics: noteRun('statistics'),
  };
  const command = benchCommand(runs);
  let printed = '';
  const print = (text: string) => void (printed += text);
  for (const one of [command, ...command.commands]) {
    one.exitOverride().configureOutput({ writeErr: print, writeOut: print });
  }
  try {
    await command.parseAsync(args, { from: 'user' });
  } catch (error) {
    throw new Error(printed, { cause: error });
  }
  if (result === undefined) throw new Error('no subcommand ran');
  return result;
}

describe('the command line of the bench', () => {
  it('measures all rows without arguments, in about twelve minutes', async () => {
    const { ran, options } = await parse();
    expect(ran).toBe('rows');
    expect(options).toMatchObject({ only: [], write: true });
    const { rounds, roundSeconds, warmUpSeconds } = options as Record<string, number>;
    const roundsSeconds =
      Number(rounds) * (2 * LEAD_IN_SECONDS + Number(roundSeconds) * (1 + SAME_LOAD_FACTOR));
    const minutes = (chooseRows([]).length * (Number(warmUpSeconds) + roundsSeconds)) / 60;
    expect(minutes).toBeGreaterThan(11);
    expect(minutes).toBeLessThan(13);
  });

  it('accepts shorter runs of some rows, with and without the name of the subcommand', async () => {
    const args = ['--rounds', '1', '--round-seconds', '1', '--only', 'floor,gateway', '--no-write'];
    const expected = { rounds: 1, roundSeconds: 1, only: ['floor', 'gateway'], write: false };
    for (const line of [args, ['rows', ...args]]) {
      const { ran, options } = await parse(...line);
      expect(ran).toBe('rows');
      expect(options).toMatchObject(expected);
    }
  });

  it('runs each subcommand with its options', async () => {
    expect(await parse('attack', 'line')).toEqual({ ran: 'attack', options: { name: 'line' } });
    expect(await parse('compare', '/other', '--only', 'gateway')).toEqual({
      ran: 'compare',
      options: { folder: '/other', only: ['gateway'], rounds: 40 },
    });
    expect(await parse('config-change', '--data-planes', '3')).toMatchObject({
      ran: 'config-change',
      options: { changes: 100, dataPlanes: 3, routes: 10_000, tokens: 10_000 },
    });
    expect(await parse('overload', '--times', '4')).toMatchObject({
      ran: 'overload',
      options: { times: 4, workers: 20, workMs: 50, dataPlanes: 1 },
    });
    expect(await parse('curves', 'routes', '--write')).toEqual({
      ran: 'curves',
      options: { name: 'routes', write: true },
    });
    expect(await parse('latency', '--minutes', '2')).toEqual({
      ran: 'latency',
      options: { minutes: 2, load: 70, write: false },
    });
    const ingest = await parse('ingest', '--cpu-prof', '/tmp/profiles');
    expect(ingest).toMatchObject({ ran: 'ingest', options: { cpuProf: '/tmp/profiles' } });
    expect(await parse('records', '--hold')).toMatchObject({ options: { hold: true, days: 29 } });
    expect(await parse('profile', '--row', 'gateway: 10 000 routes')).toMatchObject({
      options: { row: 'gateway: 10 000 routes', write: false },
    });
    expect(await parse('workloads', 'bodies', 'http2', '--rounds', '2')).toEqual({
      ran: 'workloads',
      options: { names: ['bodies', 'http2'], rounds: 2, write: false },
    });
    for (const name of ['profile', 'allocations', 'workers', 'nats'])
      expect((await parse(name)).ran).toBe(name);
  });

  it.each([['--rounds', '0'], ['--rounds', '1.5'], ['--connections', 'many'], ['--fast']])(
    'rejects %s %s and prints the usage',
    async (...args) => {
      await expect(parse(...args)).rejects.toThrow('Usage: npm run bench --');
    },
  );

  it('rejects an unknown subcommand, and lists all of them with --help', async () => {
    await expect(parse('row')).rejects.toThrow('Usage: npm run bench --');
    await expect(parse('--help')).rejects.toThrow(/rows[^]*profile[^]*config-change[^]*records/);
  });
});
