import type { components } from '@gateway/client';
import { lostTraffic } from '@gateway/client/lost-traffic';
import { revertFault, revertOf } from '@gateway/client/revert';
import { Command } from 'commander';
import { confirmChange, withYesOption, type YesOption } from '../../confirmation/confirm-change.ts';
import { trafficLine } from '../../confirmation/traffic-lines.ts';
import { differenceLines } from '../../difference/difference-lines.ts';
import { versionChanges } from '../../difference/version-changes.ts';
import { findAuditEvent } from '../../lookup/find-audit-event.ts';
import { FailedError } from '../../program/exit-codes.ts';
import type { Cli, Session } from '../../session.ts';
import { lossLine } from '../routes/confirm-lost-traffic.ts';

type AuditEvent = components['schemas']['AuditEvent'];
type Route = components['schemas']['Route'];
type Fields = Record<string, unknown>;

/** `gwctl revert` */
export const revertCommand = (cli: Cli): Command =>
  withYesOption(new Command('revert'))
    .description(
      'Gives the fields that one change of a service or a route changed their values of before. It shows them and asks ' +
        'first. It is refused if the resource was changed again since, and if the change replaced a secret. audit lists ' +
        'the changes with their ids. The token needs `audit:read`, and the read and write scopes of the resource.',
    )
    .argument('<event>', 'the id of the audit event')
    .addHelpText('after', '\nExample:\n  $ gwctl revert aud_01kb5zv4x8n3m6q9r2t7w0y1z4')
    .action(async (id: string, options: YesOption, command: Command) => {
      const session = cli.open(command);
      const event = await findAuditEvent(session, id);
      const fault = revertFault(event);
      if (fault !== undefined) throw new FailedError(fault);
      const resource = await read(session, event);
      const revert = revertOf(event, resource.fields);
      if (revert.refused !== undefined) throw new FailedError(revert.refused);
      const { name } = resource.fields;
      await confirmChange(
        session,
        options,
        `it changes ${event.resource_type} ${String(name)}`,
        () => ask(session, event, resource.fields),
      );
      await session.printChanged(await resource.patch(revert.body));
    });

/** A resource as it is now, and its change if it is still the same. */
interface Resource {
  readonly fields: Fields;
  readonly patch: (body: Fields) => Promise<unknown>;
}

async function read({ client }: Session, event: AuditEvent): Promise<Resource> {
  const path = { id: event.resource_id };
  if (event.resource_type === 'route') {
    const { body, etag = '*' } = await client.get('/v1/routes/{id}', { params: { path } });
    const params = { path, header: { 'If-Match': etag } };
    const patch = async (changes: Fields) =>
      (await client.patch('/v1/routes/{id}', { params, body: changes })).body?.data;
    return { fields: body.data, patch };
  }
  const { body, etag = '*' } = await client.get('/v1/services/{id}', { params: { path } });
  const params = { path, header: { 'If-Match': etag } };
  const patch = async (changes: Fields) =>
    (await client.patch('/v1/services/{id}', { params, body: changes })).body?.data;
  return { fields: body.data, patch };
}

/** What the revert changes, and what it takes away. */
async function ask(session: Session, event: AuditEvent, now: Fields) {
  const { resource_type: type, resource_id, before, after } = event;
  const name = String(now['name']);
  const environment = String(now['environment']);
  const reverted = {
    resource_id,
    id: resource_id,
    name,
    change: 'changed',
    before: after,
    after: before,
  };
  const [, ...fields] = differenceLines(
    versionChanges(environment, [
      {
        ...reverted,
        resource_type: type as 'service' | 'route',
      } as components['schemas']['ConfigDifference'],
    ]),
    session.terminal,
  ).slice(0, -2);
  const filter = type === 'route' ? { route: name } : { service_id: resource_id };
  const traffic = await trafficLine(session, `${type} ${name}`, { environment, ...filter });
  const lost =
    type === 'route' ? lostTraffic(now as Route, { ...now, ...before } as Route) : undefined;
  const loss = lost === undefined ? [] : [await lossLine(session, lost, name)];
  return {
    differences: [`The change of ${event.occurred_at} is reverted:`, ...fields],
    lost: [traffic, ...loss],
    question: `Change ${type} ${name} of ${environment} back?`,
  };
}
