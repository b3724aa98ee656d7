import { amountText, isAmountUnit } from './amounts.ts';
import schemas from './form-fields.json' with { type: 'json' };

/** A field of a route or a service as a form or an option of a command shows it. */
export interface FormField {
  /** `other`: a value that needs a control of its own. */
  readonly kind: 'integer' | 'number' | 'switch' | 'text' | 'choice' | 'list' | 'object' | 'other';
  readonly label: string;
  /** What it is, in Markdown; `plainText` removes its marks. */
  readonly help: string;
  /** Such as `ms`. */
  readonly unit?: string;
  /** The bounds of a number. */
  readonly min?: number;
  readonly max?: number;
  /** Undefined: it must be given, or what it is depends on other fields. */
  readonly usual?: unknown;
  /** What null means, if it may be null. */
  readonly nullMeans?: string;
  /** The values of a choice, with their labels. */
  readonly choices: readonly (readonly [value: string, label: string])[];
  /** Whether the items of a list are numbers. */
  readonly hasNumbers: boolean;
  /** The fields of an object, of all forms that it may have, or of the objects of a list. */
  readonly fields: FormFields;
  /** What one object of a list is, such as `Upstream`. */
  readonly one?: string;
}

/** Fields by their names in the API, in the order of forms. */
export type FormFields = Readonly<Record<string, FormField>>;

interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly 'x-unit'?: string;
  readonly 'x-labels'?: Readonly<Record<string, string>>;
}

/** The fields of a route. Their names, bounds and defaults are those of the API of this release. */
export const ROUTE_FORM: FormFields = fieldsOf(schemas.route);

/** The fields of a service, as above. */
export const SERVICE_FORM: FormFields = fieldsOf(schemas.service);

/** The values of a resource of which nothing was given. A text that must be given is empty, any other field undefined. */
export function usualValues(fields: FormFields): Record<string, unknown> {
  const values = Object.entries(fields).map(([name, field]) => [name, usualValue(field)]);
  return Object.fromEntries(values) as Record<string, unknown>;
}

function usualValue({ kind, usual, nullMeans, fields }: FormField): unknown {
  if (nullMeans !== undefined) return usual ?? null;
  if (kind === 'object') return usualValues(fields);
  return kind === 'text' ? (usual ?? '') : usual;
}

/** The fields whose objects a PATCH merges into those of the resource. One that may be null is replaced. */
export function mergedNames(fields: FormFields): readonly string[] {
  return Object.entries(fields).flatMap(([name, { kind, nullMeans }]) =>
    kind === 'object' && nullMeans === undefined ? [name] : [],
  );
}

/** The field at a path of a resource, such as `rate_limit.limit` or `versions.0.weight`; undefined: there is none. */
export function fieldAt(fields: FormFields, path: string): FormField | undefined {
  const [name = '', ...rest] = path.split('.').filter((part) => !/^\d+$/.test(part));
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return rest.length === 0 || field === undefined ? field : fieldAt(field.fields, rest.join('.'));
}

/** A text of a field without the marks of Markdown. */
export function plainText(markdown: string): string {
  return markdown.replaceAll('`', '');
}

/**
 * The bounds and the default in words, such as `1 to 10, default 3` or `1 ms to 5 min, default 10 s`; undefined if there is
 * nothing to say.
 */
export function boundsText({ kind, unit, min, max, usual }: FormField): string | undefined {
  const text = (value: unknown) =>
    isAmountUnit(unit) && typeof value === 'number' ? amountText(value, unit) : String(value);
  const bounds = min === undefined || max === undefined ? [] : [`${text(min)} to ${text(max)}`];
  const isShown = kind !== 'object' && kind !== 'other' && usual !== undefined && usual !== null;
  const usualText = Array.isArray(usual) ? usual.join(', ') : text(usual);
  const all = isShown && usualText !== '' ? [...bounds, `default ${usualText}`] : bounds;
  return all.length === 0 ? undefined : all.join(', ');
}

function fieldsOf(properties: Readonly<Record<string, Schema>>): FormFields {
  const fields = Object.entries(properties).map(([name, schema]) => [name, fieldOf(name, schema)]);
  return Object.fromEntries(fields) as FormFields;
}

function fieldOf(name: string, schema: Schema): FormField {
  const [value, isNullable] = withoutNull(schema);
  const { title, description = '', 'x-unit': unit, 'x-labels': labels = {} } = schema;
  const { minimum: min, maximum: max, items, properties } = value;
  const kind = kindOf(value);
  // Descriptions end with what null means, if a field may be null.
  const [, help = description, nullMeans = 'none'] =
    /^(.*?) ?null: (.*?)\.?$/s.exec(description) ?? [];
  return {
    kind,
    label: title ?? name,
    help,
    ...(unit !== undefined && { unit }),
    ...(isNumber(kind) && min !== undefined && max !== undefined && { min, max }),
    ...('default' in schema && { usual: schema.default }),
    ...(isNullable && { nullMeans }),
    choices: (value.enum ?? []).map((one) => [one, labels[one] ?? one] as const),
    hasNumbers: items !== undefined && isNumber(kindOf(items)),
    fields: fieldsOf(properties ?? items?.properties ?? propertiesOfAny(value)),
    ...(items?.title !== undefined && { one: items.title }),
  };
}

/** Of a value that has one of several forms, such as a credential, the fields of all of them. */
function propertiesOfAny({ anyOf = [], oneOf = anyOf }: Schema): Readonly<Record<string, Schema>> {
  return Object.assign({}, ...oneOf.map(({ properties }) => properties)) as Record<string, Schema>;
}

/** The schema of a value that is not null, and whether null is allowed too. */
function withoutNull(schema: Schema): readonly [Schema, boolean] {
  const { type, anyOf = [] } = schema;
  if (type !== undefined && typeof type !== 'string') {
    const [first = ''] = type.filter((one) => one !== 'null');
    return [{ ...schema, type: first }, type.includes('null')];
  }
  const [value, other] = anyOf;
  if (value === undefined || other?.type !== 'null') return [schema, false];
  return [value, true];
}

function kindOf({ type, enum: values, items, properties, ...schema }: Schema): FormField['kind'] {
  if (values !== undefined) return 'choice';
  if (type === 'integer' || type === 'number') return type;
  if (type === 'boolean') return 'switch';
  if (type === 'string') return 'text';
  if (type === 'array' && items !== undefined && isScalar(kindOf(items))) return 'list';
  return type === 'object' && properties !== undefined && schema.anyOf === undefined
    ? 'object'
    : 'other';
}

function isScalar(kind: FormField['kind']): boolean {
  return isNumber(kind) || kind === 'text' || kind === 'choice';
}

function isNumber(kind: FormField['kind']): boolean {
  return kind === 'integer' || kind === 'number';
}
