import type { operations } from '@gateway/client';
import { Command, Option } from 'commander';
import { grpcStatusOption } from '../../input/grpc-status.ts';
import { timeOption } from '../../input/times.ts';
import { checkRoute } from '../../lookup/check-route.ts';
import { checkEnvironment } from '../../lookup/check-environment.ts';
import { serviceId } from '../../lookup/find-service.ts';
import { linesText } from '../../output/print.ts';
import type { Cli } from '../../session.ts';
import { groupLines } from './group-lines.ts';
import { statisticsLines } from './statistics-lines.ts';
import { stepFor, STEPS, type Step } from './steps.ts';

type Query = NonNullable<operations['getStatistics']['parameters']['query']>;

interface Options {
  readonly since: string;
  readonly until?: string;
  readonly step?: Step;
  readonly routeVersion?: string;
  readonly service?: string;
  readonly status?: string;
  readonly grpcStatus?: number;
  readonly outcome?: string;
  readonly by?: 'version' | 'status';
}

/** `gwctl stats` */
export const statsCommand = (cli: Cli): Command => {
  const { nowMs } = cli.terminal;
  const time = timeOption(nowMs);
  return new Command('stats')
    .description(
      'Counts the requests and errors of a route, or of the environment, and shows the median and the 95th and 99th ' +
        'percentile of their durations. Errors are requests with a status of 5xx, and those whose upstream failed or timed out. Of gRPC calls it shows with which statuses they ended.',
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
        'a row for each version of the route, or each class of status',
      ).choices(['version', 'status']),
    )
    .addHelpText('after', '\nExample:\n  $ gwctl stats charges --since 1d --step 1h')
    .action(async (route: string | undefined, options: Options, command: Command) => {
      const session = cli.open(command);
      const { since: from, until: to, service } = options;
      const periodMs = (to === undefined ? nowMs() : Date.parse(to)) - Date.parse(from);
      const query = {
        environment: session.environment,
        route,
        from,
        to,
        step: options.step ?? stepFor(periodMs),
        version: options.routeVersion,
        service_id: service === undefined ? undefined : await serviceId(session, service),
        status_class: options.status,
        grpc_status: options.grpcStatus,
        outcome: options.outcome,
        by: options.by === 'status' ? 'status_class' : options.by,
      };
      // The API checks the values, and undefined ones are not sent.
      const params = { query: query as Query };
      const { body } = await session.client.get('/v1/stats', { params });
      if (body.data.total.requests === 0) {
        await checkEnvironment(session);
        await checkRoute(session, route);
      }
      const { printsData, terminal, environment = 'all environments' } = session;
      if (printsData) await session.printResource(body.data);
      else {
        const title = route === undefined ? environment : `${route} in ${environment}`;
        const lines = statisticsLines(title, body.data, query.step, terminal);
        const groups = options.by && groupLines(options.by, body.data, terminal);
        terminal.out(linesText(groups === undefined ? lines : [...lines, '', ...groups]));
      }
    });
};
