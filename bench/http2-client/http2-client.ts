import { command, whole } from '../command.ts';
import { pinSelf, splitCores } from '../lab/cores.ts';
import { scoped, type Run } from '../lab/run.ts';
import { log } from '../lab/log.ts';
import { startScript, type Script } from '../lab/script.ts';
import { median, medianInterval } from '../measure/statistics.ts';
import { formatRows } from '../report/table.ts';
import type { ClientOrder, ClientTurn } from './client-process.ts';
import type { ClientName } from './senders.ts';

/** The most that the gateway's client may need beside that of Node. */
const MAX_RATIO = 0.25;
const WORK = [
  { name: '4 × 100 GET', connections: 4, streams: 100, body: '' },
  { name: '4 × 100 POST of 1 KiB', connections: 4, streams: 100, body: 'x'.repeat(1024) },
  { name: '32 × 1 GET', connections: 32, streams: 1, body: '' },
];

/** Who takes turns. The second client of Node shows what the machine can tell apart: its interval must hold 1. */
const CLIENTS: readonly ClientName[] = ['node:http2', 'gateway', 'node:http2'];
type Spent = readonly (readonly number[])[];

interface Row {
  readonly name: string;
  /** CPU time of a request in each turn, µs, by client. */
  readonly spent: Spent;
}

/** The ratios of a client to the first one, round by round. */
const ratiosOf = ([base = [], ...others]: Spent, client: number): readonly number[] =>
  (others[client - 1] ?? []).map((one, round) => one / (base[round] ?? NaN));

async function startClient(run: Run, order: ClientOrder): Promise<Script> {
  const script = startScript(run, new URL('client-process.ts', import.meta.url), order);
  await script.nextMessage();
  return script;
}

/**
 * Measures the CPU time that a request takes in the gateway's HTTP/2 client and in that of Node, in processes that send the
 * same requests to the same server, in turn. Sets exit code 1 if the ratio is too large.
 */
export const http2Client = command({
  name: 'http2-client',
  summary: "the CPU time of a request in the gateway's HTTP/2 client, beside node:http2",
  options: {
    rounds: whole(15, [1, 50], 'measurements of each client'),
    requests: whole(20_000, [1000, 1_000_000], 'requests of each measurement'),
  },
  async run(run, { rounds, requests }) {
    const cores = splitCores();
    await pinSelf(cores.load);
    run.defer(() => pinSelf(cores.all.join(',')));
    const rows: Row[] = [];
    for (const { name, ...work } of WORK) {
      rows.push(
        await scoped(run, async (inner) => {
          const server = startScript(inner, new URL('server-process.ts', import.meta.url));
          const port = (await server.nextMessage()) as number;
          const scripts: Script[] = [];
          for (const client of CLIENTS)
            scripts.push(await startClient(inner, { client, core: cores.measured, port, ...work }));
          const spent = scripts.map(() => [] as number[]);
          // The first round is the warm-up.
          for (let round = 0; round <= rounds; round += 1) {
            const order = [...scripts.entries()];
            for (const [index, script] of round % 2 === 0 ? order : order.toReversed()) {
              const turn = (await script.ask(requests as unknown as object)) as ClientTurn;
              if (round > 0) spent[index]?.push(turn.cpuUsPerRequest);
              log(`${name}, ${CLIENTS[index]}: ${turn.cpuUsPerRequest.toFixed(2)} µs`);
            }
          }
          return { name, spent };
        }),
      );
    }
    process.stdout.write(
      `${formatRows(rows, {
        'CPU µs/request': ({ name }) => name,
        gateway: ({ spent }) => median(spent[1] ?? []).toFixed(2),
        'node:http2': ({ spent }) => median(spent[0] ?? []).toFixed(2),
        ratio: ({ spent }) => withInterval(ratiosOf(spent, 1)),
        'node:http2 again': ({ spent }) => withInterval(ratiosOf(spent, 2)),
      })}\n`,
    );
    const isMet = ({ spent }: Row) => median(ratiosOf(spent, 1)) <= MAX_RATIO;
    if (!rows.every(isMet)) process.exitCode = 1;
  },
});

/** The median with the interval of its population; NaN below 6 rounds. */
function withInterval(ratios: readonly number[]): string {
  const [low, high] = medianInterval(ratios);
  return `${median(ratios).toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
}
