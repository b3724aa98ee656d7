import { Command } from 'commander';
import { wholeNumber } from '../../input/numbers.ts';
import { timeOption } from '../../input/times.ts';
import { collectItems, pageSize } from '../../lookup/collect-items.ts';
import { checkRoute } from '../../lookup/check-route.ts';
import { resourceNames } from '../../lookup/resource-names.ts';
import type { Cli } from '../../session.ts';
import { requestColumns } from './columns.ts';
import { recordQuery, withRecordFilters, type RecordFilters } from './filters.ts';

interface Options extends RecordFilters {
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

/** `gwctl requests list` */
export const listRequests = (cli: Cli): Command => {
  const time = timeOption(cli.terminal.nowMs);
  return withRecordFilters(new Command('list').alias('ls'))
    .description('List requests, newest first.')
    .option('--since <time>', 'a time, or how long ago: 15m, 2h, 7d', time)
    .option('--until <time>', 'a time, or how long ago', time)
    .option('--limit <count>', 'how many at most', wholeNumber, 50)
    .action(async (options: Options, command: Command) => {
      const session = cli.open(command);
      const { since, until, limit } = options;
      const query = {
        ...(await recordQuery(session, options)),
        ...(since === undefined ? {} : { since }),
        ...(until === undefined ? {} : { until }),
        limit: pageSize(limit),
      };
      const list = session.client.list('/v1/requests', { params: { query } });
      const records = await collectItems(list, limit);
      if (records.length === 0) await checkRoute(session, options.route);
      const isWide = session.output === 'wide';
      const nameOf = await resourceNames(
        session.client,
        isWide ? records.map((record) => record.token_id) : [],
      );
      await session.printList(records, requestColumns(nameOf), 'such requests');
    });
};
