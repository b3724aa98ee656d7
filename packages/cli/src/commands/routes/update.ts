import type { components } from '@gateway/client';
import { ROUTE_FORM } from '@gateway/client/form-fields';
import { Command } from 'commander';
import { withYesOption, type YesOption } from '../../confirmation/confirm-change.ts';
import { changesOf, withBodyOptions, type BodyOptions } from '../../input/body-options.ts';
import { readRoute } from '../../lookup/find-route.ts';
import { namingOptions } from '../../input/refused-options.ts';
import type { Cli } from '../../session.ts';
import { confirmLostTraffic } from './confirm-lost-traffic.ts';
import { routeFields, withRouteOptions, type RouteOptions } from './options.ts';

interface Options extends RouteOptions, BodyOptions, YesOption {
  readonly name?: string;
}

/** `gwctl routes update` */
export const updateRoute = (cli: Cli): Command =>
  withYesOption(withBodyOptions(withRouteOptions(new Command('update'))))
    .summary('Change fields of a route.')
    .description(
      'Changes fields of a route, and leaves the others as they are. If somebody else changes the route at the ' +
        'same time, nothing is changed and the command fails. It reads the route first, so the token needs ' +
        '`routes:read` too. It asks first if the route is disabled or renamed, if a host or path does not lead to it any more, or if a ' +
        'service gets none of its requests any more.',
    )
    .argument('<route>', 'the name or id of the route')
    .option('--name <name>', 'a new name')
    .action(async (nameOrId: string, options: Options, command: Command) => {
      const session = cli.open(command);
      const { body: read, etag } = await readRoute(session, nameOrId);
      const own = { name: options.name, ...(await routeFields(options, session)) };
      const parts = { terminal: session.terminal, fields: ROUTE_FORM };
      const body = await changesOf(options, own, parts, read.data);
      await confirmLostTraffic(session, options, read.data, body);
      const params = { path: { id: read.data.id }, header: { 'If-Match': etag ?? '*' } };
      // The API checks the fields.
      const changes = body as components['schemas']['RouteUpdate'];
      const updated = await namingOptions({ own, fields: ROUTE_FORM }, () =>
        session.client.patch('/v1/routes/{id}', { params, body: changes }),
      );
      await session.printChanged(updated.body?.data);
    });
