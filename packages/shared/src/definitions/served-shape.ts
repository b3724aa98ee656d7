import { z } from 'zod';
import { withoutDefault } from './derived-schemas.ts';

type Fields = Readonly<Record<string, z.ZodType>>;

/** Forms that are written by hand. */
type ByHand<Shape extends Fields> = { readonly [Name in keyof Shape]?: z.ZodType };

type ServedShape<Shape extends Fields, Own> = {
  -readonly [Name in keyof Shape]: Name extends keyof Own
    ? Own[Name]
    : z.ZodType<z.output<Shape[Name]>>;
};

/**
 * The fields as data planes read them in a snapshot. A missing field has its default, an unknown choice is refused, an
 * unknown field of an object is ignored. Of the bounds those remain without which a data plane could not use the value: a
 * list that must have an item has one, a number is not negative, nor 0 if that is not allowed. A later release may
 * widen the others, as it may the patterns of strings.
 *
 * @param byHand the forms of fields that differ from this
 * @throws Error for a kind of field whose form must be written by hand
 */
export function servedShape<Shape extends Fields, const Own extends ByHand<Shape> = object>(
  shape: Shape,
  byHand?: Own,
): ServedShape<Shape, Own> {
  const own: ByHand<Shape> = byHand ?? {};
  const served = Object.entries(shape).map(([name, field]) => [name, own[name] ?? servedOf(field)]);
  return Object.fromEntries(served) as ServedShape<Shape, Own>;
}

/**
 * As `servedShape`, for one field.
 *
 * @param inner the form within its default and `nullable`, which is written by hand
 */
export function servedAs<Field extends z.ZodType>(
  field: Field,
  inner: z.ZodType,
): z.ZodType<z.output<Field>> {
  return servedOf(field, inner) as z.ZodType<z.output<Field>>;
}

function servedOf(field: z.ZodType, inner?: z.ZodType): z.ZodType {
  const plain = withoutDefault(field);
  if (plain !== field) {
    const served = servedOf(plain, inner);
    const usual = field.parse(undefined);
    // Objects that are the default are not shared between routes.
    const fresh = typeof usual === 'object' && usual !== null;
    return served.default(fresh ? () => structuredClone(usual) : usual);
  }
  if (field instanceof z.ZodOptional)
    return servedOf(field.unwrap() as z.ZodType, inner).optional();
  if (field instanceof z.ZodNullable) {
    return servedOf(field.unwrap() as z.ZodType, inner).nullable();
  }
  if (inner !== undefined) return inner;
  if (field instanceof z.ZodObject) return z.object(servedShape(field.shape as Fields));
  if (field instanceof z.ZodArray) {
    const items = z.array(servedOf(field.element as z.ZodType));
    return isEmptyAllowed(field) ? items : items.min(1);
  }
  if (field instanceof z.ZodNumber) return servedNumber(field);
  if (field instanceof z.ZodString) return z.string();
  if (field instanceof z.ZodEnum || field instanceof z.ZodBoolean) return field;
  throw new Error(`the served form of a field of type ${field.type} must be written by hand`);
}

function isEmptyAllowed(list: z.ZodArray): boolean {
  return list.safeParse([]).success;
}

function servedNumber(field: z.ZodNumber): z.ZodType {
  // Of a share, 0 to 1, no release can widen the bounds.
  if (!(field instanceof z.ZodNumberFormat)) return field;
  const least = field.minValue ?? -Infinity;
  if (least < 0) return z.int();
  return z.int().min(least === 0 ? 0 : 1);
}

/**
 * The schema of values that have every field: without defaults, which make reading a route a third slower. What it
 * refuses may still fit `schema`.
 */
export function complete<Schema extends z.ZodType>(schema: Schema): z.ZodType<z.output<Schema>> {
  return completed(schema) as z.ZodType<z.output<Schema>>;
}

function completed(given: z.ZodType): z.ZodType {
  const field = withoutDefault(given);
  if (field instanceof z.ZodNullable) return completed(field.unwrap() as z.ZodType).nullable();
  if (field instanceof z.ZodObject) {
    const shape = Object.entries<z.ZodType>(field.shape);
    return z.object(Object.fromEntries(shape.map(([name, inner]) => [name, completed(inner)])));
  }
  if (!(field instanceof z.ZodArray)) return field;
  return field.clone({ ...field.def, element: completed(field.element as z.ZodType) });
}
