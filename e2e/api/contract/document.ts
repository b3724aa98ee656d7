import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export type Schema = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

interface Content {
  readonly 'application/json'?: {
    readonly schema: Schema;
    readonly example?: unknown;
    readonly examples?: Readonly<Record<string, unknown>>;
  };
}

interface Described {
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Content;
}

interface OperationObject {
  readonly operationId: string;
  readonly description: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
}

interface HeaderObject {
  readonly required?: boolean;
  readonly schema: Schema;
}

/** An operation of the document. */
export interface Operation extends OperationObject {
  readonly method: string;
  readonly path: string;
}

/** A response as the contract checks it. */
export interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Headers that a response has only if the document says so, besides all that begin with `x-`. */
const NOTABLE = [
  'allow',
  'deprecation',
  'etag',
  'idempotent-replayed',
  'link',
  'location',
  'preference-applied',
  'retry-after',
  'www-authenticate',
];
/** Node adds them, and helmet: they concern browsers and connections, not the API. */
const NOT_OF_THE_API =
  /^x-(dns-prefetch-control|download-options|frame-options|permitted-cross|xss|content-type)/;

/** An OpenAPI document against which requests and responses are checked. */
export class ApiDocument {
  readonly operations: readonly Operation[];
  readonly #document: Record<string, never>;
  /** Numbers in headers and queries are strings. */
  readonly #texts = new Ajv2020({ strict: false, coerceTypes: 'array' });
  readonly #bodies = new Ajv2020({ strict: false });

  constructor(text: string) {
    // A response with a field that the document lacks is a difference, so objects are closed here.
    this.#document = JSON.parse(text, closed) as Record<string, never>;
    for (const ajv of [this.#texts, this.#bodies]) {
      addFormats.default(ajv);
      ajv.addSchema(this.#document, 'api');
    }
    const paths = this.#document['paths'] as unknown as Record<
      string,
      Record<string, OperationObject>
    >;
    this.operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path,
      })),
    );
  }

  /** What a reference means. */
  resolve<T extends object>(value: T): T {
    const { $ref } = value as { $ref?: string };
    if ($ref === undefined) return value;
    const parts = $ref.split('/').slice(1);
    return parts.reduce((at, part) => at[part] as never, this.#document) as unknown as T;
  }

  /** Whether a value matches a schema. Texts are the values of queries and headers. */
  matches(schema: Schema, value: unknown, kind: 'body' | 'text' = 'body'): boolean {
    return this.#faultOf(schema, value, kind) === undefined;
  }

  /** How a response differs from the document. */
  differences(operation: Operation, response: Response): string[] {
    const { status, headers, body } = response;
    const given = operation.responses[String(status)];
    if (given === undefined) return [`status ${status} is not documented: ${body.slice(0, 300)}`];
    const described = this.resolve(given) as Described;
    const known = Object.entries(described.headers ?? {});
    const names = new Set(known.map(([name]) => name.toLowerCase()));
    const found: string[] = [];
    for (const [name, reference] of known) {
      const { required = false, schema } = this.resolve(reference) as unknown as HeaderObject;
      const value = headers.get(name);
      if (value === null && required) found.push(`the header ${name} is missing`);
      const fault = value === null ? undefined : this.#faultOf(schema, value, 'text');
      if (fault !== undefined) found.push(`the header ${name} is ${value}: ${fault}`);
    }
    for (const [name] of headers) {
      const isOurs =
        (name.startsWith('x-') && !NOT_OF_THE_API.test(name)) || NOTABLE.includes(name);
      if (isOurs && !names.has(name)) found.push(`the header ${name} is not documented`);
    }
    return [...found, ...this.#bodyDifferences(described, body)];
  }

  #bodyDifferences(described: Described, body: string): string[] {
    const media = described.content?.['application/json'];
    if (media === undefined) return body === '' ? [] : ['a body is not documented'];
    const json = JSON.parse(body) as { error?: { code: string } };
    const fault = this.#faultOf(media.schema, json, 'body');
    if (fault !== undefined) return [`the body ${body.slice(0, 300)}: ${fault}`];
    const code = json.error?.code;
    const codes = Object.keys(media.examples ?? {});
    return code === undefined || codes.includes(code) ? [] : [`the code ${code} is not documented`];
  }

  #faultOf(schema: Schema, value: unknown, kind: 'body' | 'text'): string | undefined {
    const ajv = kind === 'body' ? this.#bodies : this.#texts;
    // The schema itself is the key of ajv's cache, so each is compiled once.
    const validate = ajv.compile(absolute(schema));
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  }
}

const absolutes = new WeakMap<Schema, Schema>();

/** The schema with references into the document. */
function absolute(schema: Schema): Schema {
  const known = absolutes.get(schema);
  if (known !== undefined) return known;
  const made = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as Schema;
  absolutes.set(schema, made);
  return made;
}

function closed(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const schema = value as Schema;
  return schema['type'] === 'object' &&
    'properties' in schema &&
    !('additionalProperties' in schema)
    ? { ...schema, additionalProperties: false }
    : value;
}
