import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describeApi } from '../../commands/describe-api.ts';

type Node = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly description?: string;
  readonly schema: Node;
  readonly example?: unknown;
}

interface Media {
  readonly schema: Node;
  readonly example?: unknown;
}

const document = JSON.parse(JSON.stringify(describeApi())) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Node>>>>;
  readonly components: Readonly<Record<'schemas' | 'headers' | 'examples', Node>>;
};

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    parameters: (operation['parameters'] ?? []) as readonly Parameter[],
    bodies: mediaOf(operation['requestBody'] ?? {}),
    answers: Object.values(operation['responses'] as object).flatMap(mediaOf),
  })),
);

function mediaOf(holder: object): readonly Media[] {
  const { content = {} } = holder as { content?: Record<string, Media> };
  return Object.values(content);
}

/** Every field of every component, with its path. */
function fieldsOf(schema: Node, path: string): [string, Node][] {
  const own = Object.entries((schema['properties'] ?? {}) as Record<string, Node>);
  const inner = [schema['items'], schema['anyOf'], schema['oneOf']].flat();
  return [
    ...own.flatMap(([name, field]): [string, Node][] => [
      [`${path}.${name}`, field],
      ...fieldsOf(field, `${path}.${name}`),
    ]),
    ...inner.flatMap((one) => (one === undefined ? [] : fieldsOf(one as Node, path))),
  ];
}

const fields = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
  fieldsOf(schema as Node, name),
);

describe('the description of the API', () => {
  let ajv: Ajv2020;

  beforeAll(() => {
    ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema(document, 'api');
  });

  /** What is wrong with an example. */
  function faultOf(schema: Node, example: unknown): string | null {
    const text = JSON.stringify(schema).replaceAll('"#/', '"api#/');
    const validate = ajv.compile(JSON.parse(text) as Node);
    return validate(example) ? null : ajv.errorsText(validate.errors);
  }

  it('describes every field of every schema', () => {
    const missing = fields.filter(
      ([, field]) => field['description'] === undefined && !field['$ref'],
    );
    expect(missing.map(([path]) => path)).toEqual([]);
    expect(fields.length).toBeGreaterThan(200);
  });

  it('has an example of every field that has no fields of its own', () => {
    const missing = fields.filter(
      ([path, field]) =>
        !('examples' in field || 'const' in field || '$ref' in field || 'readOnly' in field) &&
        fieldsOf(field, path).length === 0 &&
        field['items'] === undefined,
    );
    expect(missing.map(([path]) => path)).toEqual([]);
  });

  it('has examples that are valid', () => {
    for (const [path, field] of fields) {
      for (const example of (field['examples'] ?? []) as unknown[]) {
        expect([path, faultOf(field, example)]).toEqual([path, null]);
      }
    }
  });

  it('describes every parameter and has a valid example of it', () => {
    for (const { name, parameters } of operations) {
      for (const parameter of parameters) {
        expect([name, parameter.name, typeof parameter.description]).toEqual([
          name,
          parameter.name,
          'string',
        ]);
        expect(parameter.example).toBeDefined();
        const fault = faultOf(parameter.schema, parameter.example);
        expect([name, parameter.name, fault]).toEqual([name, parameter.name, null]);
      }
    }
  });

  it('has a valid example of every body and of every successful response', () => {
    let examples = 0;
    for (const { name, bodies, answers } of operations) {
      for (const { schema, example } of [...bodies, ...answers]) {
        if (example === undefined) continue;
        examples += 1;
        expect([name, faultOf(schema, example)]).toEqual([name, null]);
      }
      for (const { example } of bodies) expect(example).toBeDefined();
    }
    expect(examples).toBeGreaterThan(operations.length);
  });
});
