import type { operations } from '@gateway/client';
import { Command, Option } from 'commander';
import { grpcStatusOption } from '../../input/grpc-status.ts';
import { timeOption } from '../../input/times.ts';
import { watchable, withWatchOption } from '../../input/watch-option.ts';
import { checkRoute } from '../../lookup/check-route.ts';
import { checkEnvironment } from '../../lookup/check-environment.ts';
import { serviceId } from '../../lookup/find-service.ts';
import { resourceNames } from '../../lookup/resource-names.ts';
import { linesText } from '../../output/print.ts';
import { UsageError } from '../../program/exit-codes.ts';
import type { Cli, Session } from '../../session.ts';
import { printByRoute, ROUTE_ORDERS, type RouteOrder } from './by-route.ts';
import { groupLines } from './group-lines.ts';
import { statisticsLines } from './statistics-lines.ts';
import { stepFor, STEPS, type Step } from './steps.ts';

type Query = NonNullable<operations['getStatistics']['parameters']['query']>;

/** What a row can stand for, and what the API calls it. */
const GROUPS = { version: 'version', status: 'status', service: 'service_id' } as const;

interface Options {
  readonly since: string;
  readonly until?: string;
  readonly step?: Step;
  readonly routeVersion?: string;
  readonly service?: string;
  readonly status?: string;
  readonly grpcStatus?: number;
  readonly outcome?: string;
  readonly by?: keyof typeof GROUPS | 'route';
  readonly order?: RouteOrder;
}

/** `gwctl stats` */
export const statsCommand = (cli: Cli): Command => {
  const { nowMs } = cli.terminal;
  const time = timeOption(nowMs);
  return withWatchOption(new Command('stats'))
    .description(
      'Counts the requests and errors of a route, or of the environment, and shows the median and the 95th and 99th ' +
        'percentile of their durations. Errors are requests with a status of 5xx, and those whose upstream failed or timed out; ' +
        'requests with the status 429 are counted apart. Of gRPC calls it shows with which statuses they ended.',
    )
    .argument('[route]', 'the name of the route (default: all routes)')
    .addOption(
      new Option('--since <time>', 'a time, or how long ago: 15m, 2h, 7d')
        .argParser(time)
        .default(time('1h'), '1h'),
    )
    .option('--until <time>', 'a time, or how long ago (default: now)', time)
    .addOption(
      new Option('--step <length>', 'a row for each step (default: by the period)').choices(STEPS),
    )
    .option('--route-version <name>', 'only the version of this name')
    .option('--service <service>', 'only the service of this name or id')
    .option('--status <class>', 'only with a status of this class, such as 5xx')
    .addOption(grpcStatusOption())
    .option('--outcome <outcome>', 'only with this outcome, such as timeout')
    .addOption(
      new Option(
        '--by <what>',
        'a row for each version of the route, class of status, service, or route',
      ).choices([...Object.keys(GROUPS), 'route']),
    )
    .addOption(
      new Option('--order <what>', 'with --by route: which come first (default: requests)').choices(
        Object.keys(ROUTE_ORDERS),
      ),
    )
    .addHelpText('after', EXAMPLES)
    .action(
      watchable(cli, async (route: string | undefined, options: Options, command: Command) => {
        const session = cli.open(command);
        if (options.by === 'route') await printByRoute(session, route, options);
        else if (options.order === undefined) await printStatistics(session, route, options);
        else throw new UsageError('--order needs --by route');
      }),
    );
};

const EXAMPLES = `
Examples:
  $ gwctl stats charges --since 1d --step 1h
  $ gwctl stats --by route --order errors`;

async function printStatistics(session: Session, route: string | undefined, options: Options) {
  const { since: from, until: to, service, by } = options;
  const { client, terminal, printsData } = session;
  const periodMs = (to === undefined ? terminal.nowMs() : Date.parse(to)) - Date.parse(from);
  const step = options.step ?? stepFor(periodMs);
  const filters = {
    environment: session.environment,
    route,
    from,
    to,
    step,
    version: options.routeVersion,
    service_id: service === undefined ? undefined : await serviceId(session, service),
    status_class: options.status,
    grpc_status: options.grpcStatus,
    outcome: options.outcome,
  };
  // The API checks the values, and undefined ones are not sent.
  const read = async (group: string | undefined) => {
    const params = { query: { ...filters, by: group } as Query };
    return (await client.get('/v1/stats', { params })).body.data;
  };
  const group = by === 'route' || by === undefined ? undefined : GROUPS[by];
  // People see 429 apart; a program asks for what it wants.
  const [counted, byStatus] = await Promise.all([
    read(group),
    printsData || group === 'status' ? undefined : read('status'),
  ]);
  if (counted.total.requests === 0) {
    await checkEnvironment(session);
    await checkRoute(session, route);
  }
  if (printsData) {
    await session.printResource(counted);
    return;
  }
  const { environment = 'all environments' } = session;
  const title = route === undefined ? environment : `${route} in ${environment}`;
  const limited = (byStatus ?? counted).groups.find(({ value }) => value === '429');
  const lines = statisticsLines(title, counted, { step, limited, look: terminal });
  terminal.out(linesText(lines));
  if (group === undefined) return;
  const nameOf = await resourceNames(
    client,
    counted.groups.map(({ value }) => value),
  );
  terminal.out(linesText(['', ...groupLines(by ?? '', counted, nameOf, terminal)]));
}
