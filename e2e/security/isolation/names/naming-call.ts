import type { Operation } from '../../../api/contract/document.ts';
import type { ManagementCall } from '../fresh-resources.ts';
import { MADE_AGAIN, type Hidden } from './hidden.ts';
import { collectionOf } from './places.ts';
import type { Reach } from './reaches.ts';
import { valueOf } from './values.ts';
import type { Way } from './ways.ts';
import { withParameter, withValue, type PlacedCall } from './with-value.ts';
import type { NamesWorld } from './world.ts';

/** A call that names something of a reach, and the value that does. */
export interface NamingCall extends PlacedCall {
  readonly value: string;
}

let keys = 0;

/**
 * A call of an operation that names something of a reach in this way.
 *
 * @param base a call of resources that the caller may use
 */
export async function namingCall(
  world: NamesWorld,
  operation: Operation,
  base: ManagementCall,
  { place, row }: Way,
  reach: Reach,
): Promise<NamingCall> {
  const template = operation.path;
  const placed = (call: ManagementCall, value: string) => ({
    ...withValue(template, call, place, value),
    value,
  });
  switch (row.named) {
    case 'state': {
      const [target, isRight] = stateTarget(world, reach);
      const tag = isRight ? await etagOf(world, operation, target) : '"999"';
      const value = place.startsWith('header') ? tag : (/\d+/.exec(tag)?.[0] ?? '');
      return placed(movedTo(operation, base, target), value);
    }
    case 'position': {
      if (reach === 'none' || reach === 'none of rte') return placed(base, 'nonexists');
      const all = { ...base, path: withoutFilters(base.path) };
      return placed(all, await positionIn(world, all.path));
    }
    case 'key':
      return placed(base, `key-of-${(keys += 1)}`);
    default: {
      const value = valueOf(world, place, row.named, reach);
      return placed(reach === 'again' ? ofMadeAgain(operation, base) : base, value);
    }
  }
}

/** Whether the caller of the environment that was made again can send such a call. */
export function isForMadeAgain({ path }: Operation, { row, place }: Way): boolean {
  if (row.named !== 'environment') return true;
  // The resources and versions of other calls are of `production`.
  return place.startsWith('path') || place.startsWith('header')
    ? !/\{id\}|\{version\}|diff$/.test(path)
    : true;
}

/** A resource out of reach, and whether its state is named right or wrong. */
function stateTarget({ hidden }: NamesWorld, reach: Reach): readonly [Hidden, boolean] {
  const isOfRoute = reach === 'rte' || reach === 'none of rte';
  return [isOfRoute ? hidden.rte : hidden.env, reach === 'rte' || reach === 'env'];
}

async function etagOf(
  { gateway }: NamesWorld,
  operation: Operation,
  { serviceId, routeId, environment }: Hidden,
): Promise<string> {
  const ids: Readonly<Record<string, string>> = { services: serviceId, routes: routeId };
  const collection = collectionOf(operation);
  const id = ids[collection];
  const path = id === undefined ? `environments/${environment}` : `${collection}/${id}`;
  const etag = (await gateway.admin.get(`/v1/${path}`)).headers.get('etag');
  if (etag === null) throw new Error(`/v1/${path} has no ETag`);
  return etag;
}

/** The call, but with a resource out of reach instead of its own. */
function movedTo(operation: Operation, base: ManagementCall, hidden: Hidden): ManagementCall {
  const { path: template, method } = operation;
  const { environment, serviceId, routeId, word } = hidden;
  const isService = collectionOf(operation) === 'services';
  const id = isService ? serviceId : routeId;
  const name = `${word}-${isService ? 'service' : 'route'}`;
  let call: ManagementCall = base;
  if (template.includes('{id}')) {
    call = withValue(template, call, 'path id', method === 'PUT' ? name : id);
  }
  return inEnvironment(operation, call, environment);
}

function inEnvironment(
  { path: template, parameters = [] }: Operation,
  call: ManagementCall,
  environment: string,
): ManagementCall {
  if (template.includes('{name}')) return withValue(template, call, 'path name', environment);
  if (parameters.some(({ name }) => name === 'environment')) {
    return withValue(template, call, 'query environment', environment);
  }
  const isInBody = call.body !== undefined && 'environment' in call.body;
  return isInBody ? withValue(template, call, 'body environment', environment) : call;
}

function ofMadeAgain(operation: Operation, base: ManagementCall): ManagementCall {
  const call = { ...base, path: withoutFilters(base.path) };
  return inEnvironment(operation, call, MADE_AGAIN);
}

function withoutFilters(path: string): string {
  const [before = '', query = ''] = path.split('?');
  const parameters = new URLSearchParams(query);
  for (const name of ['route', 'resource_id']) parameters.delete(name);
  return `${before}?${parameters.toString()}`;
}

/** The position after the first item of what a token of everything sees. */
async function positionIn({ gateway }: NamesWorld, path: string): Promise<string> {
  const { next_cursor } = (await gateway.admin.get(withParameter(path, 'limit', '1'))).page();
  if (next_cursor === null) throw new Error(`${path} has only one item, so no position`);
  return next_cursor;
}
