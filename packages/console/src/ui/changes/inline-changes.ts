import { resourceChanges, type FieldChange } from '../diff/resource-changes.ts';

type Resource = Readonly<Record<string, unknown>>;

/** A field that changed, as far as a line has room for it. */
interface InlineChange {
  readonly path: string;
  /** undefined: the values are too long, or the field is a list of objects. */
  readonly values?: { readonly before: string; readonly after: string };
}

/** What a line says of a change: its first fields, and how many more there are. */
export interface InlineChanges {
  readonly shown: readonly InlineChange[];
  readonly more: number;
}

const SHOWN_FIELDS = 2;
const SHOWN_CHARS = 32;
const NOTHING = 'none';

/** The fields that differ; undefined: the resource was created or deleted. */
export function inlineChanges(
  before: Resource | null,
  after: Resource | null,
): InlineChanges | undefined {
  if (before === null || after === null) return undefined;
  const changes = resourceChanges(before, after);
  return {
    shown: changes
      .slice(0, SHOWN_FIELDS)
      .map((change) => weightsChange(change, before, after) ?? inlineChange(change)),
    more: Math.max(0, changes.length - SHOWN_FIELDS),
  };
}

/** Versions of which only the weights differ: `stable 90, v2 10`. undefined: another change. */
function weightsChange(
  { path }: FieldChange,
  before: Resource,
  after: Resource,
): InlineChange | undefined {
  if (path !== 'versions') return undefined;
  const [old, now] = [versionsOf(before), versionsOf(after)];
  const isSame = (version: Version, index: number) =>
    version.name === now[index]?.name && version.service_id === now[index]?.service_id;
  if (old.length !== now.length || !old.every(isSame)) return undefined;
  const values = { before: weightsText(old), after: weightsText(now) };
  const isShort = Math.max(values.before.length, values.after.length) <= SHOWN_CHARS;
  return isShort ? { path, values } : undefined;
}

interface Version {
  readonly name?: unknown;
  readonly service_id?: unknown;
  readonly weight?: unknown;
}

function versionsOf({ versions }: Resource): readonly Version[] {
  return Array.isArray(versions) ? (versions as readonly Version[]) : [];
}

function weightsText(versions: readonly Version[]): string {
  return versions.map(({ name, weight }) => `${String(name)} ${String(weight)}`).join(', ');
}

function inlineChange({ path, lines }: FieldChange): InlineChange {
  const of = (kind: 'removed' | 'added') =>
    lines.filter((line) => line.kind === kind).map(({ text }) => text);
  const [removed, added] = [of('removed'), of('added')];
  const isShort = ([text = NOTHING, ...others]: readonly string[]) =>
    others.length === 0 && text.length <= SHOWN_CHARS;
  if (lines.length > removed.length + added.length || !isShort(removed) || !isShort(added)) {
    return { path };
  }
  return { path, values: { before: removed[0] ?? NOTHING, after: added[0] ?? NOTHING } };
}
