import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { ChangeOrigin } from '../../changes/store/change-origin.ts';
import { auditedEnvironment } from '../environment.ts';
import type { Database } from '../../store/database.ts';
import { countContents, type EnvironmentCounts } from './count-contents.ts';
import { environmentNotFound } from './environments.ts';
import { changeConfiguration, stampChange } from '../../changes/store/record-change.ts';

const NOTHING: EnvironmentCounts = { services: 0, routes: 0, tokens: 0 };

/**
 * Deletes an environment without services, routes and tokens of its own. Its last configuration, which is published
 * like any other, has no tokens, so data planes accept no token in it.
 *
 * @throws GatewayError environment_not_found, environment_in_use
 */
export function deleteEnvironment(db: Database, name: string, origin: ChangeOrigin): Promise<void> {
  return changeConfiguration(db, origin, 'environments', async (transaction) => {
    const current = await transaction
      .selectFrom('environments')
      .selectAll()
      .where('name', '=', name)
      .where('deleted_at', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    if (current === undefined) throw environmentNotFound();
    const counts = await countContents(transaction, [name]);
    requireEmpty(counts.get(name) ?? NOTHING);
    const event = stampChange(origin, { updated_at: current.created_at });
    await transaction
      .updateTable('environments')
      .set({ deleted_at: event.at })
      .where('name', '=', name)
      .execute();
    const change = {
      action: 'environment.deleted',
      resourceId: name,
      environments: [name],
      published: { kind: 'environment', before: null, after: null },
      audited: { event, before: auditedEnvironment(current), after: null },
    } as const;
    return { result: undefined, changes: [change] };
  });
}

function requireEmpty(contents: EnvironmentCounts): void {
  const left = Object.entries(contents).flatMap(([kind, count]: [string, number]) => {
    if (count === 0) return [];
    return [{ path: kind, count, text: `${count} ${count === 1 ? kind.slice(0, -1) : kind}` }];
  });
  if (left.length === 0) return;
  const all = left.map(({ text }) => text).join(', ');
  throw new GatewayError(
    'environment_in_use',
    `The environment still has ${all}; delete or revoke them first.`,
    { details: left.map(({ path, text }) => ({ path, message: `the environment has ${text}` })) },
  );
}
