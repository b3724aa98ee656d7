import type { components, operations } from '@gateway/client';
import { Command } from 'commander';
import { wholeNumber } from '../../input/numbers.ts';
import { timeOption } from '../../input/times.ts';
import { checkEnvironment } from '../../lookup/check-environment.ts';
import { collectItems, pageSize } from '../../lookup/collect-items.ts';
import { resourceNames, type NameOf } from '../../lookup/resource-names.ts';
import { tokenId } from '../../lookup/find-token.ts';
import { styleOfAction } from '../../output/meanings.ts';
import type { Column } from '../../output/table.ts';
import type { Cli } from '../../session.ts';

type AuditEvent = components['schemas']['AuditEvent'];
type Query = NonNullable<operations['listAuditEvents']['parameters']['query']>;

interface Options {
  readonly resourceType?: string;
  readonly resourceId?: string;
  readonly action?: string;
  readonly token?: string;
  readonly request?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

/** `gwctl audit` */
export const auditCommand = (cli: Cli): Command => {
  const time = timeOption(cli.terminal.nowMs);
  return new Command('audit')
    .description('List who changed what, newest first.')
    .option('--resource-type <type>', 'service, route, token or environment')
    .option('--resource-id <id>', 'the id of the resource, or the name of an environment')
    .option('--action <action>', 'such as route.updated')
    .option('--token <token>', 'the name or id of the token that made the change')
    .option('--request <id>', 'the id of the request that made the change')
    .option('--since <time>', 'a time, or how long ago: 15m, 2h, 7d', time)
    .option('--until <time>', 'a time, or how long ago', time)
    .option('--limit <count>', 'how many at most', wholeNumber, 50)
    .action(async (options: Options, command: Command) => {
      const session = cli.open(command);
      const { token, limit } = options;
      await checkEnvironment(session);
      const query = {
        environment: session.environment,
        resource_type: options.resourceType,
        resource_id: options.resourceId,
        action: options.action,
        token_id: token === undefined ? undefined : await tokenId(session, token),
        request_id: options.request,
        since: options.since,
        until: options.until,
        limit: pageSize(limit),
      };
      // The API checks the values, and undefined ones are not sent.
      const params = { query: query as Query };
      const events = await collectItems(session.client.list('/v1/audit-events', { params }), limit);
      const nameOf = await resourceNames(
        session.client,
        session.printsData ? [] : events.map((event) => event.token_id),
      );
      await session.printList(events, columns(nameOf), 'audit events');
    });
};

const columns = (nameOf: NameOf): readonly Column<AuditEvent>[] => [
  { title: 'TIME', time: true, of: ({ occurred_at }) => occurred_at },
  { title: 'ACTION', of: ({ action }) => action, style: ({ action }) => styleOfAction(action) },
  { title: 'RESOURCE', shrinks: 12, of: resourceOf },
  {
    title: 'ENVIRONMENTS',
    shrinks: 12,
    leftOut: 1,
    of: ({ environments }) => environments.join(','),
  },
  { title: 'TOKEN', shrinks: 12, leftOut: 2, of: ({ token_id }) => nameOf(token_id) },
  { title: 'EVENT', of: ({ id }) => id },
  { title: 'RESOURCE ID', wide: true, of: ({ resource_id }) => resource_id },
  { title: 'TOKEN ID', wide: true, of: ({ token_id }) => token_id },
  { title: 'REQUEST', wide: true, of: ({ request_id }) => request_id },
  { title: 'CLIENT', wide: true, of: ({ client_ip }) => client_ip },
];

/** The name of what was changed, as far as the event knows it. */
function resourceOf({ before, after, resource_id }: AuditEvent): string {
  const name = (after ?? before ?? {})['name'];
  return typeof name === 'string' ? name : resource_id;
}
