import type { components, operations } from '@gateway/client';
import { countedText } from '@gateway/client/measures';
import { Command, Option } from 'commander';
import { wholeNumber } from '../../input/numbers.ts';
import { timeOption } from '../../input/times.ts';
import { watchable, withWatchOption } from '../../input/watch-option.ts';
import { checkEnvironment } from '../../lookup/check-environment.ts';
import { checkRoute } from '../../lookup/check-route.ts';
import { tokenId } from '../../lookup/find-token.ts';
import { resourceNames } from '../../lookup/resource-names.ts';
import type { Cli, Session } from '../../session.ts';
import { callerColumns } from './columns.ts';

type Query = NonNullable<operations['listCallerStatistics']['parameters']['query']>;
type Callers = components['schemas']['CallerStatistics'];

/** What callers are ordered by, and what the API calls it. */
const ORDERS = {
  requests: 'requests',
  errors: 'errors',
  'rate-limited': 'rate_limited',
  'quota-used': 'quota_used',
} as const;

interface Options {
  readonly route?: string;
  readonly token?: string;
  readonly order: keyof typeof ORDERS;
  readonly since: string;
  readonly until?: string;
  readonly limit: number;
}

/** `gwctl callers` */
export const callersCommand = (cli: Cli): Command => {
  const time = timeOption(cli.terminal.nowMs);
  return withWatchOption(new Command('callers'))
    .description(
      'Lists who sends requests, whose requests fail, and who is near a quota: tokens, and the subjects of JWTs. It counts ' +
        'the newest 20,000 requests of the period; --route narrows it.',
    )
    .option('--route <route>', 'only their requests to this route')
    .option('--token <token>', 'only the token of this name or id')
    .addOption(
      new Option('--order <what>', 'who comes first: those with the most of this')
        .choices(Object.keys(ORDERS))
        .default('requests'),
    )
    .addOption(
      new Option('--since <time>', 'a time, or how long ago: 15m, 2h, 7d')
        .argParser(time)
        .default(time('1h'), '1h'),
    )
    .option('--until <time>', 'a time, or how long ago (default: now)', time)
    .option('--limit <count>', 'how many at most, up to 200', wholeNumber, 50)
    .addHelpText('after', '\nExample:\n  $ gwctl callers --route charges --order quota-used')
    .action(
      watchable(cli, async (options: Options, command: Command) => {
        const session = cli.open(command);
        const { environment } = session;
        const { route, token, order, since: from, until: to, limit } = options;
        await checkEnvironment(session);
        const query: Query = {
          ...(environment === undefined ? {} : { environment }),
          ...(route === undefined ? {} : { route }),
          ...(token === undefined ? {} : { token_id: await tokenId(session, token) }),
          ...(to === undefined ? {} : { to }),
          from,
          order: ORDERS[order],
          limit,
        };
        const { body } = await session.client.get('/v1/stats/callers', { params: { query } });
        if (body.data.callers.length === 0) await checkRoute(session, route);
        await printCallers(session, body.data);
      }),
    );
};

async function printCallers(session: Session, { from, counted_from, requests, callers }: Callers) {
  const nameOf = await resourceNames(
    session.client,
    session.printsData ? [] : callers.map(({ token_id: id }) => id),
  );
  await session.printList(callers, callerColumns(nameOf), 'callers');
  if (Date.parse(counted_from) > Date.parse(from)) {
    session.note(
      `Only the newest ${countedText(requests, 'request')} are counted, those since ${counted_from}. --route counts further back.`,
    );
  }
}
