/** A resource as the API shows it. */
type Resource = Readonly<Record<string, unknown>>;

/** A line of a value: both versions have it, or only one of them. */
interface ChangedLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** A field that differs, and its lines. */
export interface FieldChange {
  readonly path: string;
  readonly lines: readonly ChangedLine[];
}

/** These change with every change, or never. */
const SILENT = new Set([
  'id',
  'environment',
  'revision',
  'created_at',
  'updated_at',
  'last_used_at',
]);

/** The fields that differ between two versions of a resource; null: it did not exist. */
export function resourceChanges(
  before: Resource | null,
  after: Resource | null,
): readonly FieldChange[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((path) => {
    const lines = changedLines(old.get(path) ?? [], now.get(path) ?? []);
    return lines.every(({ kind }) => kind === 'same') ? [] : [{ path, lines }];
  });
}

/** The lines of each field, in the order of the resource. */
function fieldsOf(resource: Resource | null): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, readonly string[]>();
  // The url of a service is that of its first upstream.
  const repeated = resource !== null && 'upstreams' in resource ? 'url' : undefined;
  const add = (part: Resource, prefix: string): void => {
    for (const [name, value] of Object.entries(part)) {
      if (prefix === '' && (SILENT.has(name) || name === repeated)) continue;
      if (isObject(value)) add(value, `${prefix}${name}.`);
      else fields.set(prefix + name, linesOf(value));
    }
  };
  if (resource !== null) add(resource, '');
  return fields;
}

function linesOf(value: unknown): readonly string[] {
  if (value === null || value === undefined || value === '') return [];
  if (typeof value === 'string') return value.trimEnd().split('\n');
  if (!Array.isArray(value)) return [JSON.stringify(value)];
  const items: readonly unknown[] = value;
  if (items.some(isObject)) return items.map(itemText);
  return items.length === 0 ? [] : [items.map(String).join(', ')];
}

/** An item of a list in one line, such as `url http://a, weight 1`. */
function itemText(item: unknown): string {
  if (!isObject(item)) return String(item);
  return Object.entries(item)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${isObject(value) ? JSON.stringify(value) : String(value)}`)
    .join(', ');
}

/** Lines that only one version has, removed ones before those that took their place. */
function changedLines(before: readonly string[], after: readonly string[]): ChangedLine[] {
  const removed = before.filter((line) => !after.includes(line));
  const lines: ChangedLine[] = removed.map((text) => ({ kind: 'removed', text }));
  for (const text of after) lines.push({ kind: before.includes(text) ? 'same' : 'added', text });
  const isReordered = lines.every(({ kind }) => kind === 'same') && !isEqual(before, after);
  if (!isReordered) return lines;
  return [
    ...before.map((text) => ({ kind: 'removed', text }) as const),
    ...after.map((text) => ({ kind: 'added', text }) as const),
  ];
}

function isEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}

function isObject(value: unknown): value is Resource {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
