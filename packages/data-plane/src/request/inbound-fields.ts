import { foldedName, HOP_BY_HOP_FIELDS } from '@gateway/shared/http/headers';
import { cacheByName } from '@gateway/http/fields/name-cache';
import { REQUEST_FIELDS, type Differing, type RequestFieldName } from './request-fields.ts';

const NAMES = Object.keys(REQUEST_FIELDS) as RequestFieldName[];

/** The fields whose values are read for every request. */
const READ = NAMES.filter((name) => {
  const { differing } = REQUEST_FIELDS[name];
  return differing !== 'unread' && differing !== 'refused_in_options';
});

/** Each name with the index of its value among those that are found in a request; -1: it is not read. */
export const INDEX = Object.fromEntries(
  NAMES.map((name) => [name, READ.indexOf(name)]),
) as Readonly<Record<RequestFieldName, number>>;

/** What is found in a request without any field. */
export const NONE_FOUND: readonly (string | undefined)[] = READ.map(() => undefined);

/**
 * Names under which nothing goes on, in any spelling: hop-by-hop fields (RFC 9110 section 7.6.1), what the gateway sets
 * itself, and what decides about a request. Of the last, the exact name may go on.
 */
const GUARDED: ReadonlySet<string> = new Set<string>([
  ...HOP_BY_HOP_FIELDS,
  ...NAMES.filter((name) => !goesOn(name) || REQUEST_FIELDS[name].differing === 'refused'),
]);

const GATEWAY_PREFIX = 'x-gateway-';
const FORWARDED_PREFIX = 'x-forwarded-';

/** How a request field is handled, by its name. */
export interface InboundField {
  /** In lower case. */
  readonly name: string;
  /** The index of its value, if that is read for every request. */
  readonly at: number | undefined;
  readonly differing: Differing;
  /** Whether it is forwarded as it is. */
  readonly passed: boolean;
}

/** How a request field is handled, by its name as it is written. */
export const inboundField = cacheByName((rawName): InboundField => {
  const name = rawName.toLowerCase();
  if (!isListed(name))
    return { name, at: undefined, differing: 'unread', passed: !isGuarded(name) };
  const { differing } = REQUEST_FIELDS[name];
  const at = READ.includes(name) ? INDEX[name] : undefined;
  return { name, at, differing, passed: goesOn(name) };
});

function isListed(name: string): name is RequestFieldName {
  return Object.hasOwn(REQUEST_FIELDS, name);
}

function goesOn(name: RequestFieldName): boolean {
  const { forwarded } = REQUEST_FIELDS[name];
  return forwarded === 'yes' || forwarded === 'unless_ours';
}

/** Covers every name that an upstream could read as one of these. */
function isGuarded(name: string): boolean {
  const dashed = foldedName(name);
  return (
    GUARDED.has(dashed) || dashed.startsWith(GATEWAY_PREFIX) || dashed.startsWith(FORWARDED_PREFIX)
  );
}
