/** What is said of a thing of the source: it has no equivalent, it behaves differently here, or it is good to know. */
export interface Remark {
  readonly kind: 'missing' | 'different' | 'note';
  /** Such as `kong.yaml:3:5`. */
  readonly place: string;
  readonly text: string;
}

/** A remark, and the field before which it stands; without one it stands at the end. */
interface PlacedRemark extends Remark {
  readonly field: string | undefined;
}

/** A path of a way: as `match` has it, or any path that begins with these characters, which only the source can say. */
export interface WayPath {
  readonly kind: 'exact' | 'prefix' | 'characters';
  readonly path: string;
}

/** One way to a route, as an item of `match`. An empty list stands for everything. */
export interface Way {
  readonly hosts: readonly string[];
  readonly paths: readonly WayPath[];
  readonly headers: readonly NameAndValue[];
}

export interface NameAndValue {
  readonly name: string;
  readonly value: string;
}

/** Who may call a route in the source: anybody, callers with an API key, or callers with something that has no equivalent. */
export type Access = 'open' | 'api_key' | 'guarded';

/** A service or a route that is being made. */
export class Draft {
  readonly place: string;
  name: string;
  /** In the order in which they are written. */
  readonly fields = new Map<string, unknown>();
  readonly remarks: PlacedRemark[] = [];
  /** Why it is not written, only its remarks; undefined: it is written. */
  leftOut: string | undefined;

  constructor(name: string, place: string) {
    this.name = name;
    this.place = place;
  }

  missing(place: string, text: string, field?: string): void {
    this.remarks.push({ kind: 'missing', place, text, field });
  }

  different(place: string, text: string, field?: string): void {
    this.remarks.push({ kind: 'different', place, text, field });
  }

  note(place: string, text: string, field?: string): void {
    this.remarks.push({ kind: 'note', place, text, field });
  }
}

const nameOf = (what: NameAndValue | string): string =>
  typeof what === 'string' ? what : what.name;

/** Two names with the same key are one header field. */
const fieldKey = (what: NameAndValue | string): string =>
  nameOf(what).toLowerCase().replaceAll(/[-_]+/g, '-');

type Names = 'request_headers' | 'response_headers' | 'query';

/** The route that is made of a route or a location of the source. */
export class RouteDraft extends Draft {
  ways: Way[] = [];
  /** Ways that the source has and that are not written. */
  lost: Way[] = [];
  /** Null: all. */
  methods: readonly string[] | null = null;
  access: Access = 'open';
  /** How many kinds of conditions it has, for sources that look at this first. */
  criteria = 0;
  priority = 0;
  readonly rewrite = new Map<string, unknown>();
  readonly #changes = new Map<Names, Map<'set' | 'add' | 'remove', unknown[]>>();

  /** Adds a change of a header field or a query parameter. */
  change(names: Names, how: 'set' | 'add' | 'remove', what: NameAndValue | string): void {
    const changes = this.#changes.get(names) ?? new Map<'set' | 'add' | 'remove', unknown[]>();
    this.#changes.set(names, changes);
    const before = (changes.get(how) ?? []) as (NameAndValue | string)[];
    const keyOf = names === 'query' ? nameOf : fieldKey;
    // The last one of a name counts, but a field may be added more than once.
    const others = how === 'add' ? before : before.filter((one) => keyOf(one) !== keyOf(what));
    changes.set(how, [...others, what]);
  }

  /** Keeps at most so many changes of each kind. Returns whether there were more. */
  cutChanges(max: number): boolean {
    let isCut = false;
    for (const changes of this.#changes.values()) {
      for (const [how, all] of changes) {
        if (all.length <= max) continue;
        changes.set(how, all.slice(0, max));
        isCut = true;
      }
    }
    return isCut;
  }

  /** Removes all rewriting. Returns whether something would have been changed of a response. */
  dropRewrite(): boolean {
    const had = this.#changes.has('response_headers');
    this.rewrite.clear();
    this.#changes.clear();
    return had;
  }

  /** The value of `rewrite`; undefined: nothing is rewritten. */
  rewriteValue(): Readonly<Record<string, unknown>> | undefined {
    const all: Record<string, unknown> = Object.fromEntries(this.rewrite);
    for (const [names, changes] of this.#changes) all[names] = Object.fromEntries(changes);
    return Object.keys(all).length === 0 ? undefined : all;
  }
}

/** What a file becomes. */
export class Conversion {
  readonly services: Draft[] = [];
  readonly routes: RouteDraft[] = [];
  /** What concerns no service and no route. */
  readonly remarks: Remark[] = [];
  /** Whether the source looks at the host before the path. */
  hostComesFirst = true;
  readonly #names = new Map<'service' | 'route', Set<string>>();
  readonly #repeated = new Map<string, { place: string; count: number }>();

  addService(given: string | undefined, place: string): Draft {
    const draft = new Draft(this.#freeName('service', given ?? 'service'), place);
    this.services.push(draft);
    return draft;
  }

  addRoute(given: string | undefined, place: string): RouteDraft {
    const draft = new RouteDraft(this.#freeName('route', given ?? 'route'), place);
    this.routes.push(draft);
    return draft;
  }

  /**
   * Leaves out a route that cannot be read, of which some fields may be there already. It may guard anything.
   *
   * @param before how many routes there were before it
   */
  leaveOut(before: number, name: string | undefined, place: string, reason: string): void {
    if (this.routes.length === before) this.addRoute(name, place);
    for (const route of this.routes.slice(before)) {
      route.leftOut = reason;
      route.access = 'guarded';
      route.lost = [{ hosts: [], paths: [], headers: [] }];
    }
  }

  missing(place: string, text: string): void {
    this.remarks.push({ kind: 'missing', place, text });
  }

  note(place: string, text: string): void {
    this.remarks.push({ kind: 'note', place, text });
  }

  /** A remark that is said once for all its places. */
  repeated(kind: 'missing' | 'note', place: string, text: string): void {
    const key = JSON.stringify([kind, text]);
    const before = this.#repeated.get(key);
    if (before === undefined) this.#repeated.set(key, { place, count: 1 });
    else before.count += 1;
  }

  /** All remarks on the file, those that repeat as one. */
  fileRemarks(): readonly Remark[] {
    const repeated = [...this.#repeated].map(([key, { place, count }]): Remark => {
      const [kind, text] = JSON.parse(key) as [Remark['kind'], string];
      return {
        kind,
        place,
        text: count === 1 ? text : `${text} (${count} places, the first here)`,
      };
    });
    return [...this.remarks, ...repeated];
  }

  #freeName(kind: 'service' | 'route', given: string): string {
    const taken = this.#names.get(kind) ?? new Set<string>();
    this.#names.set(kind, taken);
    const base = kind === 'route' ? routeName(given) : serviceName(given);
    let name = base;
    for (let count = 2; taken.has(name); count += 1) {
      const end = `-${count}`;
      name = base.slice(0, MAX_NAME_CHARS - end.length) + end;
    }
    taken.add(name);
    return name;
  }
}

const MAX_NAME_CHARS = 63;

function routeName(given: string): string {
  return serviceName(given.toLowerCase()).replaceAll(' ', '-');
}

function serviceName(given: string): string {
  const text = given.replaceAll(/[^\w. -]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return text.slice(0, MAX_NAME_CHARS).trimEnd().replace(/-+$/, '') || 'unnamed';
}
