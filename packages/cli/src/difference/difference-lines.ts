import type { components } from '@gateway/client';
import { printable } from '../output/printable.ts';
import { pointerParts } from '../input/json-pointer.ts';
import { changedFieldLines, fieldLines, type Fields } from './field-lines.ts';
import type { Look } from './look.ts';

export type ApplyResult = components['schemas']['ApplyResult'];
export type ResourceChange = ApplyResult['changes'][number];

interface Counts {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** Of an apply: how many of the files are the same already. */
  readonly unchanged?: number;
}

/** What an apply or a rollback changes, or what differs between two versions. */
export interface ChangeResult extends Pick<
  ApplyResult,
  'environment' | 'dry_run' | 'changed' | 'changes'
> {
  readonly services: Counts;
  readonly routes: Counts;
}

/** What the files and the environment say of the resource of a change, as far as it is known. */
export interface Background {
  /** Where its file declares it. */
  place(change: ResourceChange): string | undefined;
  /** Its fields in the file, or in an export if it is deleted: those that do not have their defaults. */
  given(change: ResourceChange): Fields | undefined;
}

const MARKS = {
  created: ['+', 'green'],
  updated: ['~', 'yellow'],
  deleted: ['-', 'red'],
} as const;

const NO_BACKGROUND: Background = { place: () => undefined, given: () => undefined };

/** Every change with its fields, and how many there are. */
export function differenceLines(
  result: ChangeResult,
  look: Look,
  background: Background = NO_BACKGROUND,
): readonly string[] {
  const blocks = result.changes.flatMap((change) => {
    const place = background.place(change);
    const at = place === undefined ? '' : `  ${look.colour('dim', printable(place))}`;
    return [heading(change, look) + at, ...bodyLines(change, background, look), ''];
  });
  return [...blocks, summary(result, look)];
}

/** A line for each change, and how many there are. */
export function appliedLines(result: ChangeResult, look: Look): readonly string[] {
  const lines = result.changes.map((change) => {
    const names = new Set(change.fields.map(({ path }) => printable(pointerParts(path)[0] ?? '')));
    return heading(change, look) + (names.size === 0 ? '' : `  ${[...names].join(', ')}`);
  });
  return [...lines, summary(result, look)];
}

/** Such as `- route charges`. */
export function heading({ action, resource_type, name }: ResourceChange, look: Look): string {
  const [mark, style] = MARKS[action];
  return `${look.colour(style, `${mark} ${resource_type}`)} ${look.colour('bold', printable(name))}`;
}

function bodyLines(change: ResourceChange, background: Background, look: Look): string[] {
  if (change.action === 'updated') return changedFieldLines(change.fields, look);
  const given = background.given(change) ?? {};
  const shown = change.after === null ? given : withoutDefaults(change.after, given);
  const style = change.action === 'created' ? 'green' : 'red';
  return fieldLines(shown, look).map((line) => look.colour(style, line));
}

/** Fields that have no default. A file may write one of them as another, such as `upstreams` for `url`. */
const NOT_DEFAULTS = new Set(['url', 'upstreams', 'service', 'versions']);

/** The fields that the file gives, as the gateway understands them. */
function withoutDefaults(all: Fields, given: Fields): Fields {
  const shown = Object.entries(all).filter(([name]) => name in given || NOT_DEFAULTS.has(name));
  return Object.fromEntries(
    shown.map(([name, value]) => {
      const inner = given[name];
      return [name, isObject(value) && isObject(inner) ? withoutDefaults(value, inner) : value];
    }),
  );
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function summary({ environment, dry_run, changed, services, routes }: ChangeResult, look: Look) {
  const sum = (count: keyof Counts) => (services[count] ?? 0) + (routes[count] ?? 0);
  const name = look.colour('bold', printable(environment));
  if (!changed) {
    const same = services.unchanged === undefined ? '' : `, ${sum('unchanged')} unchanged`;
    return `${name}: nothing to change${same}`;
  }
  const counts = [
    [sum('created'), dry_run ? 'to create' : 'created'],
    [sum('updated'), dry_run ? 'to change' : 'changed'],
    [sum('deleted'), dry_run ? 'to delete' : 'deleted'],
    [sum('unchanged'), 'unchanged'],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return `${name}: ${parts.join(', ')}`;
}
