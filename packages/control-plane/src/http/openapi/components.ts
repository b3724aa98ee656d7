import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

export type Json = Readonly<Record<string, unknown>>;

interface Definitions extends Json {
  readonly $defs?: Readonly<Record<string, Json>>;
}

const DEFINITION = '#/$defs/';

/** What the operations of the document share. A schema with an id is a component, and so is each error response. */
export class Components {
  readonly #schemas = new Map<string, Json>();
  readonly #responses = new Map<string, Json>();

  /** The JSON schema of what is sent (`input`) or answered (`output`): a reference if the schema has an id. */
  jsonOf(schema: z.ZodType, io: 'input' | 'output'): Json {
    const override = io === 'input' ? simplify : simplifyAndOpen;
    const made = z.toJSONSchema(schema, { io, unrepresentable: 'any', override });
    const { $defs = {}, ...json } = referToComponents(made) as Definitions;
    for (const [id, definition] of Object.entries($defs)) this.add(id, definition);
    return json;
  }

  /** Adds a component and returns the reference to it. @throws if another one has its name */
  add(id: string, component: Json): Json {
    const known = this.#schemas.get(id);
    if (known !== undefined && !isDeepStrictEqual(known, component)) {
      throw new Error(`two schemas have the id ${id}`);
    }
    this.#schemas.set(id, component);
    return { $ref: refOf(id) };
  }

  /** What a reference of the document means; any other schema is returned as it is. */
  resolve(schema: Json): Json {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    const found = this.#schemas.get($ref.slice(refOf('').length));
    if (found === undefined) throw new Error(`no schema is named ${$ref}`);
    return found;
  }

  /** Adds a response and returns the reference to it. */
  addResponse(name: string, response: Json): Json {
    this.#responses.set(name, response);
    return { $ref: `#/components/responses/${name}` };
  }

  /** All schemas by name. */
  schemas(): Json {
    return sorted(this.#schemas);
  }

  /** All responses by name. */
  responses(): Json {
    return sorted(this.#responses);
  }
}

function sorted(entries: ReadonlyMap<string, Json>): Json {
  return Object.fromEntries([...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function refOf(id: string): string {
  return `#/components/schemas/${id}`;
}

function referToComponents(schema: object): unknown {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    if (key === '$schema') return undefined;
    if (key !== '$ref' || typeof value !== 'string' || !value.startsWith(DEFINITION)) return value;
    return refOf(value.slice(DEFINITION.length));
  });
}

interface Override {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}

/** zod leaves these out of the input of a schema that transforms, because it takes them for its output. */
const LEFT_OUT = ['examples', 'default'] as const;

/** Removes the bounds that every number has, and the pattern of a named format. */
function simplify({ zodSchema, jsonSchema }: Override): void {
  const given: Json = z.globalRegistry.get(zodSchema) ?? {};
  for (const name of LEFT_OUT) {
    if (name in given) Object.assign(jsonSchema, { [name]: given[name] });
  }
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
}

/** Fields may be added to a response without a new version of the API, so a reader must not refuse them. */
function simplifyAndOpen(override: Override): void {
  simplify(override);
  if (override.jsonSchema.additionalProperties === false) {
    delete override.jsonSchema.additionalProperties;
  }
}
