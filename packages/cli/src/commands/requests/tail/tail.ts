import { ApiError, ConnectionError } from '@gateway/client';
import { msText } from '@gateway/client/measures';
import { Command } from 'commander';
import { wholeNumber } from '../../../input/numbers.ts';
import { timeOption } from '../../../input/times.ts';
import { checkRoute } from '../../../lookup/check-route.ts';
import { resourceNames, type NameOf } from '../../../lookup/resource-names.ts';
import { recordPrinter } from '../../../output/record-printer.ts';
import { passingWaitMs } from '../../../program/describe-error.ts';
import { InterruptedError } from '../../../program/exit-codes.ts';
import type { Cli, Session } from '../../../session.ts';
import { requestColumns, type RequestRecord } from '../columns.ts';
import { recordQuery, withRecordFilters, type RecordFilters } from '../filters.ts';
import { RecordFollower } from './follow-records.ts';
import { readRecords, type ReadRecords } from './read-records.ts';

const INITIAL_LIMIT = 10;
/** After these statuses a later poll may succeed. */
const PASSING = new Set([429, 500, 502, 503, 504]);

interface Options extends RecordFilters {
  readonly follow?: true;
  readonly since?: string;
  readonly limit?: number;
}

/** `gwctl requests tail` */
export const tailRequests = (cli: Cli): Command => {
  const time = timeOption(cli.terminal.nowMs);
  return withRecordFilters(new Command('tail'))
    .summary('Show the last requests, and follow new ones.')
    .description(
      'Shows the last requests, oldest first. With --follow it then shows each request within two seconds after its ' +
        'record is stored, until ^C. If the gateway is away for a while, it continues when the gateway is back. -o json ' +
        'prints a line of JSON for each request.',
    )
    .option('-f, --follow', 'show new requests until ^C')
    .option('--since <time>', 'begin with all requests since then: 15m, 2h, or a time', time)
    .option('-n, --limit <count>', 'begin with so many requests (default: 10)', wholeNumber)
    .addHelpText('after', '\nExample:\n  $ gwctl requests tail -f --route charges --status 5xx')
    .action(async (options: Options, command: Command) => {
      const session = cli.open(command);
      const { terminal } = session;
      const { since, follow, route } = options;
      const limit = options.limit ?? (since === undefined ? INITIAL_LIMIT : undefined);
      const interrupted = terminal.interrupted();
      const print = namedPrinter(session);
      try {
        const read = readRecords(session.client, await recordQuery(session, options), {
          signal: interrupted,
          nowMs: terminal.nowMs,
        });
        const initial = () => read({ ...(since === undefined ? {} : { since }) }, limit);
        const reads = { read, session, print, interrupted, route };
        if (follow === undefined) await printInitial(initial, reads);
        else await followFrom(initial, reads);
      } catch (error) {
        throw interrupted.aborted ? new InterruptedError() : error;
      }
    });
};

interface Following {
  readonly read: ReadRecords;
  readonly session: Session;
  readonly print: (records: readonly RequestRecord[]) => Promise<void>;
  readonly interrupted: AbortSignal;
  /** The name that the command line gives. */
  readonly route: string | undefined;
}

/** Prints records with the names of their tokens, as far as a column shows them. */
function namedPrinter({ client, output, terminal }: Session): Following['print'] {
  const names = new Map<string, string>();
  const nameOf: NameOf = (id) => (id === null || id === undefined ? null : (names.get(id) ?? id));
  const print = recordPrinter(requestColumns(nameOf), output, terminal, (text) =>
    terminal.out(text),
  );
  return async (records) => {
    const ids = records.flatMap(({ token_id: id }) => (id === null || names.has(id) ? [] : [id]));
    if (output === 'wide' && ids.length > 0) {
      const found = await resourceNames(client, ids);
      for (const id of ids) names.set(id, found(id) ?? id);
    }
    await print(records);
  };
}

async function printInitial(
  initial: () => ReturnType<ReadRecords>,
  { session, print, route }: Following,
): Promise<readonly RequestRecord[]> {
  const { records } = await initial();
  if (records.length === 0) await checkRoute(session, route);
  await print(records.toReversed());
  return records;
}

async function followFrom(
  initial: () => ReturnType<ReadRecords>,
  following: Following,
): Promise<never> {
  const { read, session, print, interrupted } = following;
  const { terminal } = session;
  let isAway = false;
  const follower = new RecordFollower(
    {
      read: (sinceMs, minDurationMs) =>
        read({ since: new Date(sinceMs).toISOString(), min_duration_ms: minDurationMs }),
      pause: (delayMs) => terminal.pause(delayMs, interrupted),
      nowMs: terminal.nowMs,
      failed(error) {
        if (!mayPass(error)) throw error;
        const waitMs = (error instanceof ApiError && passingWaitMs(error)) || 0;
        const when = waitMs === 0 ? '' : ` in ${msText(waitMs)}`;
        if (!isAway) session.note(`Trying again${when}: ${(error as Error).message}`);
        isAway = true;
        return waitMs;
      },
      recovered() {
        isAway = false;
        session.note('The gateway is back.');
      },
    },
    (await read({}, 1)).serverMs,
  );
  // First, so that what comes before the first requests are read is not lost.
  await follower.skipExisting();
  follower.unseen(await printInitial(initial, following));
  for await (const found of follower.follow()) await print(found);
  throw new Error('unreachable');
}

function mayPass(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof ApiError && PASSING.has(error.status);
}
