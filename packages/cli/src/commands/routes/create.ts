import { ROUTE_FORM } from '@gateway/client/form-fields';
import { Command } from 'commander';
import { bodyOf, withBodyOptions, type BodyOptions } from '../../input/body-options.ts';
import type { Fields } from '../../input/read-body.ts';
import { namingOptions } from '../../input/refused-options.ts';
import { UsageError } from '../../program/exit-codes.ts';
import type { Cli } from '../../session.ts';
import { routeFields, withRouteOptions, type RouteOptions } from './options.ts';

/** `gwctl routes create` */
export const createRoute = (cli: Cli): Command =>
  withBodyOptions(withRouteOptions(new Command('create')))
    .summary('Create a route.')
    .description(
      'Creates a route to a service, in the environment of the service, or one that answers itself, in that of ' +
        '`--environment`.',
    )
    .argument('<name>', 'the name of the route')
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, options: RouteOptions & BodyOptions, command: Command) => {
      const session = cli.open(command);
      const { client, terminal, environment } = session;
      const own = { name, ...(await routeFields(options, session)) };
      const given = await bodyOf(options, own, { terminal, fields: ROUTE_FORM });
      requireTarget(given);
      const hasService = (given['service_id'] ?? given['versions'] ?? null) !== null;
      const body = hasService || environment === undefined ? given : { environment, ...given };
      // The API checks the fields.
      const created = await namingOptions({ own, fields: ROUTE_FORM, names: ['name'] }, () =>
        client.post('/v1/routes', { body }),
      );
      await session.printResource(created.body.data);
    });

/** @throws UsageError: the API would name fields that have no option */
function requireTarget(given: Fields): void {
  const targets = ['service_id', 'versions', 'respond', 'redirect'];
  if (targets.some((name) => (given[name] ?? null) !== null)) return;
  throw new UsageError(
    '--service is required, or versions, respond or redirect with --set or -f FILE',
  );
}

const EXAMPLES = `
Examples:
  $ gwctl routes create charges --service payments --timeout-ms 5s --set rate_limit.limit=100
  $ gwctl routes create charges --service payments --set 'match=[{hosts: [api.example.com], paths: [{prefix: /v2}]}]'
  $ gwctl routes create charges -f charges.yaml
  $ gwctl routes create closed -e production --set 'respond={status: 503, body: Back at 6:00}'
  $ gwctl routes create old -e production --set 'redirect={status: 308, location: "https://new.example.com/{path.rest}"}'`;
