import { z } from 'zod';

/**
 * A resource is defined once, by the fields of the body that creates it. The fields of a PATCH and of a
 * response are derived here from that definition.
 */

type Fields = Readonly<Record<string, z.ZodType>>;

type WithoutDefault<Field extends z.ZodType> =
  Field extends z.ZodDefault<infer Inner extends z.ZodType>
    ? Inner
    : Field extends z.ZodPrefault<infer Inner extends z.ZodType>
      ? Inner
      : Field;

type Merged<Field extends z.ZodType> =
  Field extends z.ZodObject<infer Shape extends Fields>
    ? z.ZodObject<ChangeShape<Shape>, z.core.$strict>
    : Field;

type ChangeShape<Shape extends Fields> = {
  -readonly [Name in keyof Shape]: z.ZodOptional<Merged<WithoutDefault<Shape[Name]>>>;
};

type ViewShape<Shape extends Fields> = {
  -readonly [Name in keyof Shape]: z.ZodType<z.output<Shape[Name]>>;
};

/** The description and the examples of a field, or of the field within its default, optional or nullable. */
function metaOf(field: z.ZodType): z.core.GlobalMeta | undefined {
  const meta = field.meta();
  if (meta?.description !== undefined) return meta;
  if (
    field instanceof z.ZodDefault ||
    field instanceof z.ZodPrefault ||
    field instanceof z.ZodOptional ||
    field instanceof z.ZodNullable
  ) {
    return metaOf(field.unwrap() as z.ZodType);
  }
  return meta;
}

/** A derived field with the description and the examples of the one that it is derived from. */
function described(derived: z.ZodType, from: z.ZodType): z.ZodType {
  const meta = metaOf(from);
  return meta === undefined ? derived : derived.meta({ ...derived.meta(), ...meta });
}

/** A field without its default. */
export function withoutDefault(field: z.ZodType): z.ZodType {
  return field instanceof z.ZodDefault || field instanceof z.ZodPrefault
    ? (field.unwrap() as z.ZodType)
    : field;
}

/**
 * The fields of a PATCH: all are optional and without default. An object is merged into the stored one
 * (RFC 7396), so its own fields are optional too; `applyChange` merges it.
 */
export function changeShape<Shape extends Fields>(shape: Shape): ChangeShape<Shape> {
  const changed = Object.entries(shape).map(([name, field]) => {
    const plain = withoutDefault(field);
    const merged =
      plain instanceof z.ZodObject
        ? plain.clone({ ...plain.def, shape: changeShape(plain.shape as Fields) })
        : plain;
    return [name, described(merged.optional(), field)];
  });
  return Object.fromEntries(changed) as ChangeShape<Shape>;
}

/** The fields of `shape` that a value has, in the order of `shape`. */
export function pickFields<Value extends object, Name extends string>(
  shape: Readonly<Record<Name, unknown>>,
  value: Value,
): Pick<Value, Extract<Name, keyof Value>> {
  const names = Object.keys(shape).filter((name) => Object.hasOwn(value, name));
  const picked = names.map((name) => [name, value[name as keyof Value]]);
  return Object.fromEntries(picked) as Pick<Value, Extract<Name, keyof Value>>;
}

/** The fields whose objects a PATCH merges into the stored ones. */
export function mergedFields(shape: Fields): ReadonlySet<string> {
  const merged = Object.entries(shape).filter(
    ([, field]) => withoutDefault(field) instanceof z.ZodObject,
  );
  return new Set(merged.map(([name]) => name));
}

/** The settings after a change that has passed a schema of `changeShape(shape)`. */
export function applyChange<Settings extends object>(
  shape: Fields,
  before: Settings,
  change: object,
): Settings {
  const after = { ...before } as Record<string, unknown>;
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) continue;
    const field = shape[name] && withoutDefault(shape[name]);
    after[name] =
      field instanceof z.ZodObject
        ? applyChange(field.shape as Fields, after[name] as object, value as object)
        : (value as unknown);
  }
  return after as Settings;
}

/**
 * The fields of a response. Unknown keys of stored objects are omitted, and a choice may have an unknown
 * value: during an upgrade a newer replica may have written either.
 */
export function viewShape<Shape extends Fields>(shape: Shape): ViewShape<Shape> {
  const shown = Object.entries(shape).map(([name, field]) => [name, viewOf(field)]);
  return Object.fromEntries(shown) as ViewShape<Shape>;
}

/** As `viewShape`, for one field. */
export function viewOf<Field extends z.ZodType>(field: Field): z.ZodType<z.output<Field>> {
  return shownAs(field) as z.ZodType<z.output<Field>>;
}

function shownAs(given: z.ZodType): z.ZodType {
  return described(plainlyShown(given), given);
}

function plainlyShown(given: z.ZodType): z.ZodType {
  const field = withoutDefault(given);
  const inner = (nested: unknown) => shownAs(nested as z.ZodType);
  if (field instanceof z.ZodOptional) return inner(field.unwrap()).optional();
  if (field instanceof z.ZodNullable) return inner(field.unwrap()).nullable();
  if (field instanceof z.ZodArray) return z.array(inner(field.element));
  if (field instanceof z.ZodObject) return z.object(viewShape(field.shape as Fields));
  if (field instanceof z.ZodEnum) return z.string().meta({ enum: field.options });
  if (field instanceof z.ZodDiscriminatedUnion) {
    const options = field.options.map(inner) as unknown as [z.core.$ZodTypeDiscriminable];
    return z.discriminatedUnion(field.def.discriminator, options);
  }
  return field;
}

/** Whether the value is stored as JSON: an object, or a list of objects. */
function isJson(given: z.ZodType): boolean {
  const field = withoutDefault(given);
  if (field instanceof z.ZodOptional || field instanceof z.ZodNullable) {
    return isJson(field.unwrap() as z.ZodType);
  }
  if (field instanceof z.ZodArray) return isJson(field.element as z.ZodType);
  return field instanceof z.ZodObject || field instanceof z.ZodDiscriminatedUnion;
}

/** How a field is stored in a column of Postgres. */
export interface Column {
  readonly type: 'boolean' | 'integer' | 'double precision' | 'text' | 'text[]' | 'jsonb';
  readonly isNullable: boolean;
  /** The default of the field. */
  readonly usual: unknown;
}

/** @throws Error if the field has no default, so that the rows that exist would have no value */
export function columnOf(field: z.ZodType): Column {
  const plain = withoutDefault(field);
  if (plain === field) throw new Error('a new field needs a default');
  const isNullable = plain instanceof z.ZodNullable;
  const value = isNullable ? (plain.unwrap() as z.ZodType) : plain;
  return { type: columnType(value), isNullable, usual: field.parse(undefined) };
}

function columnType(value: z.ZodType): Column['type'] {
  if (isJson(value)) return 'jsonb';
  if (value instanceof z.ZodArray) return 'text[]';
  if (value instanceof z.ZodBoolean) return 'boolean';
  if (value instanceof z.ZodNumberFormat) return 'integer';
  if (value instanceof z.ZodNumber) return 'double precision';
  return 'text';
}

/** The names of the fields into whose objects `withDefaults` adds defaults. */
export function objectFields(shape: Fields): readonly string[] {
  return Object.entries(shape).flatMap(([name, field]) =>
    withoutDefault(field) instanceof z.ZodObject ? [name] : [],
  );
}

/**
 * A stored row with the default of each setting that did not exist when the row was stored, also within the objects that
 * are stored as JSON.
 */
export function withDefaults<Row extends object>(shape: Fields, row: Row): Row {
  const whole = { ...row } as Record<string, unknown>;
  for (const [name, field] of Object.entries(shape)) {
    const plain = withoutDefault(field);
    const value = whole[name] ?? null;
    if (value === null) {
      if (plain !== field) whole[name] = field.parse(undefined);
    } else if (plain instanceof z.ZodObject) {
      whole[name] = withDefaults(plain.shape as Fields, value);
    }
  }
  return whole as Row;
}
