import { Document, isMap, isScalar, type YAMLMap } from 'yaml';

/** A JSON schema, as far as the chart needs it. */
export type Schema = Readonly<Record<string, unknown>>;

interface Value {
  readonly preset: unknown;
  readonly description: string;
  readonly schema: Schema;
}

/**
 * The values of the chart, in the order in which the templates declare them: what `values.yaml`, `values.schema.json` and the table of the
 * documentation are made of.
 */
export class Values {
  readonly #values = new Map<string, Value>();

  /**
   * Declares a value.
   *
   * @param path such as `dataPlane.replicas`
   * @param preset the default: what the manifests have, wherever they have it
   * @param schema by default that of the type of the preset
   * @returns the expression that reads it
   */
  declare(path: string, preset: unknown, description: string, schema?: Schema): string {
    this.#values.set(path, { preset, description, schema: schema ?? schemaOf(preset) });
    return `.Values.${path}`;
  }

  get paths(): readonly string[] {
    return [...this.#values.keys()];
  }

  /** `values.yaml`: each value with its description before it. */
  toYaml(heading: string): string {
    const document = new Document({});
    document.commentBefore = ` ${heading}`;
    for (const [path, { preset, description }] of this.#values) {
      const keys = path.split('.');
      document.setIn(keys, document.createNode(preset));
      const parent = document.getIn(keys.slice(0, -1), true) as YAMLMap;
      const pair = parent.items.find((one) => String(one.key) === keys.at(-1));
      if (pair === undefined || !isMap(parent)) continue;
      if (!isScalar(pair.key)) pair.key = document.createNode(pair.key);
      (pair.key as { commentBefore?: string }).commentBefore = ` ${description}`;
    }
    return document.toString({ lineWidth: 0 });
  }

  /** `values.schema.json`: Helm refuses a value that it does not know, and one of another type. */
  toSchema(): string {
    const root = objectSchema();
    for (const [path, { description, schema }] of this.#values) {
      const keys = path.split('.');
      const last = keys.pop() ?? '';
      let level = root;
      for (const key of keys) level = child(level, key);
      level.properties[last] = { description, ...schema };
    }
    // Values that a parent chart sets for all of its charts.
    root.properties['global'] = { type: 'object' };
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...root };
    return `${JSON.stringify(schema, undefined, 2)}\n`;
  }

  /** The rows of a table in Markdown: value, default, description. */
  toRows(): readonly (readonly [string, string, string])[] {
    return [...this.#values].map(([path, { preset, description }]) => [
      path,
      typeof preset === 'string' ? preset : JSON.stringify(preset),
      description,
    ]);
  }
}

interface ObjectSchema {
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly properties: Record<string, Schema | ObjectSchema>;
}

function objectSchema(): ObjectSchema {
  return { type: 'object', additionalProperties: false, properties: {} };
}

function child(level: ObjectSchema, key: string): ObjectSchema {
  const found = level.properties[key] ?? objectSchema();
  level.properties[key] = found;
  return found as ObjectSchema;
}

function schemaOf(preset: unknown): Schema {
  if (Array.isArray(preset)) return { type: 'array' };
  if (typeof preset === 'number') return { type: 'integer', minimum: 0 };
  return { type: typeof preset };
}
