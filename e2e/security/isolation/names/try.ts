import type { Operation } from '../../../api/contract/document.ts';
import type { ManagementRow } from '../calls/management-row.ts';
import { removeMade, type ManagementCall } from '../fresh-resources.ts';
import { comparable, faultOf } from './answers.ts';
import { isForMadeAgain, namingCall, type NamingCall } from './naming-call.ts';
import { endpointOf } from './places.ts';
import type { Cell, Reach } from './reaches.ts';
import type { Way } from './ways.ts';
import type { NamesWorld } from './world.ts';

/** One cell: an operation, a way to name something, and a reach. */
export interface Try {
  readonly way: Way;
  readonly reach: Reach;
  readonly cell: Cell;
}

/** What came of it. */
export interface Tried extends Try {
  readonly requestId: string;
  /** The answer without what differs each time. */
  readonly text: string;
  readonly faults: readonly string[];
}

export function triesOf(operation: Operation, ways: readonly Way[]): readonly Try[] {
  return ways.flatMap((way) =>
    [...way.row.cells].flatMap(([reach, cell]) => {
      const isThere = cell !== '.' && (reach !== 'again' || isForMadeAgain(operation, way));
      return isThere ? [{ way, reach, cell }] : [];
    }),
  );
}

/** They only ask data planes. */
const ASKS = /\/explain$|^\/v1\/connection-tests$/;

/** Whether the call changes something, so that it needs resources of its own. */
export function isChange({ method, path }: Operation, { cell }: Try): boolean {
  return cell === 'ok' && method !== 'GET' && !ASKS.test(path);
}

let sent = 0;

export async function send(
  world: NamesWorld,
  operation: Operation,
  row: ManagementRow,
  base: ManagementCall,
  one: Try,
): Promise<Tried> {
  const { gateway, callers } = world;
  const { way, reach, cell } = one;
  const { token, canaries } = callers[reach];
  const call = await namingCall(world, operation, base, way, reach);
  if (way.row.named === 'key') await useKey(world, operation, row, call.headers);
  // Alternates between the data plane and the control plane.
  const planes = [gateway.controlPlane, ...gateway.dataPlanes];
  const { baseUrl = '' } = planes[(sent += 1) % planes.length] ?? {};
  const { path, body, headers, value } = call;
  const client = gateway.admin.at(baseUrl);
  const answer = await client.call(operation.method, path, { token, body, headers });
  if (isChange(operation, one)) {
    await removeMade(gateway.admin, answer);
    await removeApplied(world, call);
  }
  const text = comparable(answer, value);
  const shown = [...new Set(text.match(canaries) ?? [])];
  const faults = [
    faultOf(cell, answer),
    shown.length > 0 ? `shows ${shown.join(', ')}` : undefined,
  ];
  return {
    ...one,
    requestId: answer.headers.get('x-request-id') ?? '',
    text,
    faults: faults.filter((fault) => fault !== undefined),
  };
}

/** Removes what an apply has created under the name that it was given. */
async function removeApplied({ gateway }: NamesWorld, { value, path }: NamingCall): Promise<void> {
  if (!path.endsWith('/apply')) return;
  for (const kind of ['routes', 'services']) {
    const list = await gateway.admin.get(`/v1/${kind}?environment=production&name=${value}`);
    for (const { id } of list.page().data) await gateway.admin.delete(`/v1/${kind}/${id}`);
  }
}

/** The first call of another caller with the key of a call. */
async function useKey(
  { gateway }: NamesWorld,
  operation: Operation,
  row: ManagementRow,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const { path, body, cleanUp } = await row.call();
  await removeMade(
    gateway.admin,
    await gateway.admin.call(operation.method, path, { body, headers }),
  );
  await cleanUp?.();
}

/** How the answers of one way differ although they have the same cell; the answer to what does not exist is the measure. */
export function differences(operation: Operation, tried: readonly Tried[]): readonly string[] {
  return tried.flatMap(({ way, reach, cell, text, faults }) => {
    if (cell === 'ok' || faults.length > 0 || way.row.named === 'position') return [];
    // The environment that was made again has resources and events of its own, but no requests.
    if (reach === 'again' && !operation.path.startsWith('/v1/stats')) return [];
    const noneOf: Reach = reach === 'rte' || reach === 'none of rte' ? 'none of rte' : 'none';
    const none = tried.find((other) => other.way === way && other.reach === noneOf);
    if (none?.cell !== cell || none.faults.length > 0) return [];
    if (text === none.text) return [];
    return [`${nameOf(operation, way, reach)}: ${text} differs from ${none.text}`];
  });
}

/** How a failure names a cell. */
export function nameOf(operation: Operation, { place, row }: Way, reach: Reach): string {
  return `${endpointOf(operation)}, ${place} (${row.named}), ${reach}`;
}
