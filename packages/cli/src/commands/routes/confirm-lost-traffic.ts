import type { components } from '@gateway/client';
import {
  lossText,
  lostServices,
  lostTraffic,
  type LostTraffic,
} from '@gateway/client/lost-traffic';
import { confirmChange, type YesOption } from '../../confirmation/confirm-change.ts';
import { trafficLine } from '../../confirmation/traffic-lines.ts';
import type { Fields } from '../../input/read-body.ts';
import { resourceNames } from '../../lookup/resource-names.ts';
import type { Session } from '../../session.ts';

type Route = components['schemas']['Route'];

/**
 * Asks before a change of a route after which callers get 404, a host or path does not lead to it any more, or a service
 * gets none of its requests any more.
 */
export async function confirmLostTraffic(
  session: Session,
  options: YesOption,
  before: Route,
  changes: Fields,
): Promise<void> {
  const after = changed(before, changes);
  const lost = after && lostTraffic(before, after);
  if (after === undefined || lost === undefined) return;
  const { name, environment } = before;
  const [verb, does] = VERBS[verbOf(lost, after)];
  await confirmChange(session, options, `it ${does} route ${name}`, async () => {
    const traffic = await trafficLine(session, `route ${name}`, { environment, route: name });
    return {
      lost: [traffic, await lossLine(session, lost, name)],
      question: `${verb} route ${name} of ${environment}?`,
    };
  });
}

/** What a route loses, with the names of its services. */
export async function lossLine(
  session: Session,
  lost: LostTraffic,
  route: string,
): Promise<string> {
  const nameOf = await resourceNames(session.client, lostServices(lost));
  return lossText(lost, route, (id) => nameOf(id) ?? id);
}

const VERBS = {
  disable: ['Disable', 'disables'],
  rename: ['Rename', 'renames'],
  unreach: ['Remove hosts or paths of', 'removes hosts or paths of'],
  move: ['Move the requests of', 'moves the requests of'],
} as const;

function verbOf(lost: LostTraffic, after: Route): keyof typeof VERBS {
  if (lost.kind === 'moved') return 'move';
  if (lost.kind === 'unreached') return 'unreach';
  return after.status === 'disabled' ? 'disable' : 'rename';
}

/**
 * The route after the change, as far as it decides where requests go: a service, versions and an answer replace each
 * other. undefined: the API refuses it.
 */
function changed(before: Route, changes: Fields): Route | undefined {
  const { service_id: service, versions, respond, redirect } = changes;
  const isList = Array.isArray(versions) && versions.every(isObject);
  if (versions !== undefined && versions !== null && !isList) return undefined;
  const match = changes['match'] === undefined ? before.match : readMatch(changes['match']);
  if (match === undefined) return undefined;
  const isAnswer = isObject(respond) || isObject(redirect);
  const target = isAnswer
    ? { service_id: null, versions: null }
    : typeof service === 'string'
      ? { versions: null }
      : isList
        ? { service_id: null }
        : {};
  return { ...before, ...changes, ...target, match };
}

/** With the defaults of fields that are not given; undefined: the API refuses it. */
function readMatch(given: unknown): Route['match'] | undefined {
  if (!Array.isArray(given)) return undefined;
  const ways = given.filter(isObject).map((one) => ({ hosts: [], paths: [], headers: [], ...one }));
  return ways.length === given.length && ways.every(isWay) ? ways : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isWay({ hosts, paths, headers }: Readonly<Record<string, unknown>>): boolean {
  const areObjects = [paths, headers].every((list) => Array.isArray(list) && list.every(isObject));
  return areObjects && Array.isArray(hosts) && hosts.every((host) => typeof host === 'string');
}
