import { z } from 'zod';
import type { RouteMatch } from '../definitions/route-match.ts';
import { complete } from '../definitions/served-shape.ts';
import {
  authSchema,
  matchesSchema,
  routeSchema,
  serviceSchema,
  tokenSchema,
  type SnapshotAuth,
  type SnapshotRoute,
  type SnapshotService,
  type SnapshotToken,
} from './schema.ts';

export const ELEMENT_KINDS = ['service', 'route', 'token'] as const;
export type ElementKind = (typeof ELEMENT_KINDS)[number];

/** An element of a configuration that its reader cannot read; the reader uses the others. */
export interface UnreadableElement {
  readonly kind: ElementKind;
  readonly id: string;
  /** Of a route: the name that it claims. */
  readonly name: string | undefined;
  /** Of a route: how its callers authenticate, if at least that is known. */
  readonly auth: SnapshotAuth | undefined;
  /** Of a route: the ways to it that can be read, so that no other route gets its requests. */
  readonly match: readonly RouteMatch[];
  /** Holds none of the content. */
  readonly reason: string;
}

/** The elements of a configuration that its reader can read. */
export interface ReadElements {
  readonly services: SnapshotService[];
  readonly routes: SnapshotRoute[];
  readonly tokens: SnapshotToken[];
}

const named = z.object({ id: z.string().min(1), name: z.string().min(1) });
/** What must be readable of each element: without it nobody could say which one is left out. */
const IDENTITIES = {
  service: named.partial({ name: true }),
  route: named,
  token: named.pick({ id: true }),
} as const;

const SCHEMAS = { service: serviceSchema, route: routeSchema, token: tokenSchema } as const;
const COMPLETE = {
  service: complete(serviceSchema),
  route: complete(routeSchema),
  token: tokenSchema,
} as const;

export type ParsedElement<Kind extends ElementKind> = z.output<(typeof SCHEMAS)[Kind]>;

/** Reads an element. What another release wrote may lack fields, which then have their defaults. */
export function parseElement<Kind extends ElementKind>(
  kind: Kind,
  value: unknown,
): z.ZodSafeParseResult<ParsedElement<Kind>> {
  const whole = COMPLETE[kind].safeParse(value);
  return (whole.success ? whole : SCHEMAS[kind].safeParse(value)) as z.ZodSafeParseResult<
    ParsedElement<Kind>
  >;
}

/** What a control plane publishes of an element that it cannot compile. */
export interface UnusableElement {
  readonly id: string;
  readonly name?: string;
  readonly auth?: SnapshotAuth;
  readonly match?: readonly RouteMatch[];
  /** Why, without any of the content. */
  readonly unusable: string;
}

/** The longest reason that is kept. */
export const MAX_REASON_CHARS = 200;

/** Reads the elements of one configuration or of one change of it. */
export class ElementReader {
  readonly #read: ReadElements = { services: [], routes: [], tokens: [] };
  readonly #unreadable: UnreadableElement[] = [];
  readonly #ids = {
    service: new Set<string>(),
    route: new Set<string>(),
    token: new Set<string>(),
  };
  readonly #repeatedIds = {
    service: new Set<string>(),
    route: new Set<string>(),
    token: new Set<string>(),
  };

  /**
   * Adds an element to those of its kind, or to the unreadable ones.
   *
   * @throws ZodError if not even its id, and the name of a route, can be read
   */
  read(kind: ElementKind, value: unknown): void {
    const parsed = parseElement(kind, value);
    const element = parsed.success ? parsed.data : unreadableOf(kind, value, parsed.error);
    // The schema of this kind made it.
    if (parsed.success) (this.#read[`${kind}s`] as unknown[]).push(element);
    else this.#unreadable.push(element as UnreadableElement);
    if (this.#ids[kind].has(element.id)) this.#repeatedIds[kind].add(element.id);
    this.#ids[kind].add(element.id);
  }

  /**
   * What was read. Elements of one kind that share an id are unreadable: changes name an id, so it would not be known
   * which of them is changed or removed.
   */
  result(): ReadElements & { readonly unreadable: readonly UnreadableElement[] } {
    const { services, routes, tokens } = this.#read;
    return {
      services: this.#withoutRepeated('service', services),
      routes: this.#withoutRepeated('route', routes),
      tokens: this.#withoutRepeated('token', tokens),
      unreadable: this.#unreadable,
    };
  }

  #withoutRepeated<Element extends Identified>(kind: ElementKind, elements: Element[]): Element[] {
    const repeated = this.#repeatedIds[kind];
    if (repeated.size === 0) return elements;
    const reason = `another ${kind} has the same id`;
    for (const { id, name, auth, match = [] } of elements.filter((element) =>
      repeated.has(element.id),
    )) {
      this.#unreadable.push({
        kind,
        id,
        name: kind === 'route' ? name : undefined,
        auth,
        match,
        reason,
      });
    }
    return elements.filter((element) => !repeated.has(element.id));
  }
}

interface Identified {
  readonly id: string;
  readonly name?: string;
  /** Of a route. */
  readonly auth?: SnapshotAuth;
  readonly match?: readonly RouteMatch[];
}

function unreadableOf(kind: ElementKind, value: unknown, error: z.ZodError): UnreadableElement {
  const { id, name } = { name: undefined, ...IDENTITIES[kind].parse(value) };
  const given = value as {
    readonly auth?: unknown;
    readonly match?: unknown;
    readonly unusable?: unknown;
  };
  const [issue] = error.issues;
  const isNewer = issue?.path[0] === 'format';
  const reason =
    typeof given.unusable === 'string'
      ? given.unusable
      : `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`;
  return {
    kind,
    id,
    name: kind === 'route' ? name : undefined,
    // A newer format may give the field another meaning.
    auth: kind === 'route' && !isNewer ? authSchema.safeParse(given.auth).data : undefined,
    match: kind === 'route' ? readableMatches(given.match) : [],
    reason: reason.slice(0, MAX_REASON_CHARS),
  };
}

/** Those that can be read, each for itself. */
export function readableMatches(given: unknown): readonly RouteMatch[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((one) => matchesSchema.safeParse([one]).data ?? []);
}
