import type { components, operations } from '@gateway/client';
import { Command } from 'commander';
import { wholeNumber } from '../../input/numbers.ts';
import { timeOption } from '../../input/times.ts';
import { collectItems, pageSize } from '../../lookup/collect-items.ts';
import { tokenId } from '../../lookup/find-token.ts';
import type { Column } from '../../output/table.ts';
import type { Cli } from '../../session.ts';
import { msText } from './timeline.ts';

type RequestRecord = components['schemas']['RequestRecord'];
type Query = NonNullable<operations['listRequests']['parameters']['query']>;

interface Options {
  readonly route?: string;
  readonly status?: number;
  readonly outcome?: string;
  readonly token?: string;
  readonly method?: string;
  readonly errorCode?: string;
  readonly upstream?: string;
  readonly minDurationMs?: number;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

/** `gwctl requests list` */
export const listRequests = (cli: Cli): Command => {
  const time = timeOption(cli.terminal.nowMs);
  return new Command('list')
    .description('List requests, newest first.')
    .option('--route <name>', 'only to this route')
    .option('--status <status>', 'only with this status', wholeNumber)
    .option('--outcome <outcome>', 'only with this outcome, such as timeout')
    .option('--token <token>', 'only with the token of this name or id')
    .option('--method <method>', 'only with this method')
    .option('--error-code <code>', 'only with this error of the gateway')
    .option('--upstream <upstream>', 'only if the last attempt went to this URL or id')
    .option('--min-duration-ms <ms>', 'only if it took at least this long', wholeNumber)
    .option('--since <time>', 'a time, or how long ago: 15m, 2h, 7d', time)
    .option('--until <time>', 'a time, or how long ago', time)
    .option('--limit <count>', 'how many at most', wholeNumber, 50)
    .action(async (options: Options, command: Command) => {
      const session = cli.open(command);
      const { token, limit } = options;
      const query = {
        environment: session.environment,
        route: options.route,
        status: options.status,
        outcome: options.outcome,
        token_id: token === undefined ? undefined : await tokenId(session, token),
        method: options.method,
        error_code: options.errorCode,
        upstream: options.upstream,
        min_duration_ms: options.minDurationMs,
        since: options.since,
        until: options.until,
        limit: pageSize(limit),
      };
      // The API checks the values, and undefined ones are not sent.
      const params = { query: query as Query };
      const found = await collectItems(session.client.list('/v1/requests', { params }), limit);
      session.printList(found, columns);
    });
};

const columns: readonly Column<RequestRecord>[] = [
  { title: 'TIME', of: ({ received_at }) => received_at },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'OUTCOME', of: ({ outcome }) => outcome },
  { title: 'TOOK', of: ({ timing }) => msText(timing.total_ms) },
  { title: 'RETRIES', of: ({ retry_count }) => retry_count },
  { title: 'METHOD', of: ({ method }) => method },
  { title: 'PATH', of: ({ path }) => path },
  { title: 'ID', of: ({ id }) => id },
  { title: 'ERROR', wide: true, of: ({ error_code }) => error_code },
  { title: 'UPSTREAM', wide: true, of: ({ upstream }) => upstream?.url },
  { title: 'TOKEN', wide: true, of: ({ token_id }) => token_id },
  { title: 'DATA PLANE', wide: true, of: ({ data_plane }) => data_plane },
];
