import { command, whole } from '../command.ts';
import { scoped, type Run } from '../lab/run.ts';
import { log } from '../lab/log.ts';
import { startScript, type Script } from '../lab/script.ts';
import { median } from '../measure/statistics.ts';
import { formatRows } from '../report/table.ts';
import type { ClientOrder, ClientTurn } from './client-process.ts';
import { CLIENTS } from './senders.ts';

/** The most that the gateway's client may need beside that of Node. */
const MAX_RATIO = 0.25;
const WORK = [
  { name: '4 × 100 GET', connections: 4, streams: 100, body: '' },
  { name: '4 × 100 POST of 1 KiB', connections: 4, streams: 100, body: 'x'.repeat(1024) },
  { name: '32 × 1 GET', connections: 32, streams: 1, body: '' },
];

interface Row {
  readonly name: string;
  readonly cpuUs: readonly number[];
  readonly ratio: number;
}

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
    rounds: whole(7, [1, 50], 'measurements of each client'),
    requests: whole(40_000, [1000, 1_000_000], 'requests of each measurement'),
  },
  async run(run, { rounds, requests }) {
    const rows: Row[] = [];
    for (const { name, ...work } of WORK) {
      rows.push(
        await scoped(run, async (inner) => {
          const server = startScript(inner, new URL('server-process.ts', import.meta.url));
          const port = (await server.nextMessage()) as number;
          const scripts: Script[] = [];
          for (const client of CLIENTS)
            scripts.push(await startClient(inner, { client, port, ...work }));
          const spent = scripts.map(() => [] as number[]);
          // The first round is the warm-up.
          for (let round = 0; round <= rounds; round += 1) {
            for (const [index, script] of scripts.entries()) {
              const turn = (await script.ask(requests as unknown as object)) as ClientTurn;
              if (round > 0) spent[index]?.push(turn.cpuUsPerRequest);
              log(`${name}, ${CLIENTS[index]}: ${turn.cpuUsPerRequest.toFixed(2)} µs`);
            }
          }
          const ratios = (spent[0] ?? []).map((one, round) => one / (spent[1]?.[round] ?? NaN));
          return { name, cpuUs: spent.map((one) => median(one)), ratio: median(ratios) };
        }),
      );
    }
    process.stdout.write(
      `${formatRows(rows, {
        'CPU µs/request': ({ name }) => name,
        gateway: ({ cpuUs }) => (cpuUs[0] ?? NaN).toFixed(2),
        'node:http2': ({ cpuUs }) => (cpuUs[1] ?? NaN).toFixed(2),
        ratio: ({ ratio }) => ratio.toFixed(2),
      })}\n`,
    );
    if (rows.some(({ ratio }) => !(ratio <= MAX_RATIO))) process.exitCode = 1;
  },
});
