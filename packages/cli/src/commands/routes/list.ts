import { Command, Option } from 'commander';
import { checkEnvironment } from '../../lookup/check-environment.ts';
import { collectItems } from '../../lookup/collect-items.ts';
import { serviceId } from '../../lookup/find-service.ts';
import { resourceNames } from '../../lookup/resource-names.ts';
import type { Cli } from '../../session.ts';
import { routeColumns } from './columns.ts';
import { routeTraffic } from './route-traffic.ts';

/** What routes are ordered by, and what the API calls it. */
const ORDERS = {
  name: 'name',
  updated: '-updated_at',
  requests: '-requests',
  'error-rate': '-error_rate',
  p95: '-p95_ms',
} as const;

const BY_TRAFFIC: readonly (keyof typeof ORDERS)[] = ['requests', 'error-rate', 'p95'];

interface Options {
  readonly search?: string;
  readonly status?: 'active' | 'disabled';
  readonly service?: string;
  readonly order?: keyof typeof ORDERS;
}

/** `gwctl routes list` */
export const listRoutes = (cli: Cli): Command =>
  new Command('list')
    .alias('ls')
    .description(
      'List routes; with -o wide, or in an order by traffic, also the requests, error rate and 95th percentile of the ' +
        'durations of the last hour.',
    )
    .option('--search <text>', 'only with this text in the name')
    .addOption(
      new Option('--status <status>', 'only with this status').choices(['active', 'disabled']),
    )
    .option('--service <service>', 'only to the service of this name or id')
    .addOption(
      new Option(
        '--order <what>',
        'by name, or the latest or largest of this first (default: oldest first)',
      ).choices(Object.keys(ORDERS)),
    )
    .addHelpText('after', '\nExample:\n  $ gwctl routes list --order error-rate')
    .action(async ({ search, status, service, order }: Options, command: Command) => {
      const session = cli.open(command);
      const { client, environment } = session;
      const query = {
        limit: 200,
        ...(environment === undefined ? {} : { environment }),
        ...(search === undefined ? {} : { search }),
        ...(status === undefined ? {} : { status }),
        ...(service === undefined ? {} : { service_id: await serviceId(session, service) }),
        ...(order === undefined ? {} : { order: ORDERS[order] }),
      };
      const routes = await collectItems(client.list('/v1/routes', { params: { query } }));
      if (routes.length === 0) await checkEnvironment(session);
      const nameOf = await resourceNames(
        client,
        session.printsData ? [] : routes.map((route) => route.service_id),
      );
      const isByTraffic = order !== undefined && BY_TRAFFIC.includes(order);
      const showsTraffic = session.output === 'wide' || (isByTraffic && !session.printsData);
      const trafficOf = showsTraffic ? await routeTraffic(client, routes) : undefined;
      await session.printList(routes, routeColumns(nameOf, trafficOf), 'routes');
    });
