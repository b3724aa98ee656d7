import { escapeHtml } from '../page/html.ts';
import { refName, type Schema } from './openapi.ts';
import { prose } from './prose.ts';

/** The fields of an object, each with its type, description and bounds, and the fields within it folded. */
export function fieldList(schema: Schema): string {
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) =>
    fieldItem(name, field, required.has(name)),
  );
  return `<ul class="fields">${fields.join('')}</ul>`;
}

/** The row of a field or a parameter. */
export function fieldItem(name: string, schema: Schema, required: boolean, note = ''): string {
  const flags = [
    required ? '<span class="required">required</span>' : '',
    schema.writeOnly === true ? '<span class="flag">write only</span>' : '',
    note === '' ? '' : `<span class="flag">${note}</span>`,
  ];
  const description = schema.description === undefined ? '' : prose(schema.description);
  return `<li><div class="field"><code>${escapeHtml(name)}</code><span class="type">${typeOf(schema)}</span>${flags.join('')}</div>${description}${facts(schema)}${nested(schema)}</li>`;
}

/** The type in words; an object of its own section is a link to it. */
export function typeOf(schema: Schema): string {
  const name = refName(schema);
  if (name !== undefined) return `<a href="#${objectAnchor(name)}">${escapeHtml(name)}</a>`;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ');
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`;
  const { type = 'any' } = schema;
  if (type === 'array') {
    return schema.items === undefined ? 'array' : `array of ${typeOf(schema.items)}`;
  }
  return escapeHtml(typeof type === 'string' ? type : type.join(' or '));
}

export function objectAnchor(name: string): string {
  return `object-${name}`;
}

/** Values, bounds and default. */
function facts(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const own = innermost(schema);
  const list = own.enum ?? [];
  const texts = [
    list.length > 0 ? `One of ${list.map(code).join(', ')}.` : '',
    range('Value', minimum ?? own.minimum, maximum ?? own.maximum),
    range('Characters', minLength ?? own.minLength, maxLength ?? own.maxLength),
    range('Items', minItems ?? own.minItems, maxItems ?? own.maxItems),
    schema.default === undefined ? '' : `Default: ${code(schema.default)}.`,
  ].filter((text) => text !== '');
  return texts.length === 0 ? '' : `<p class="facts">${texts.join(' ')}</p>`;
}

function code(value: unknown): string {
  return `<code>${escapeHtml(JSON.stringify(value))}</code>`;
}

function range(name: string, min: number | undefined, max: number | undefined): string {
  // Integers of JSON have these as bounds if the definition has none.
  const from = min === undefined || min === Number.MIN_SAFE_INTEGER ? undefined : min;
  const to = max === undefined || max === Number.MAX_SAFE_INTEGER ? undefined : max;
  if (from === undefined && to === undefined) return '';
  if (from === undefined) return `${name}: at most ${to}.`;
  if (to === undefined) return `${name}: at least ${from}.`;
  return `${name}: ${from} to ${to}.`;
}

/** What is within: the items of an array, or the one choice beside null. */
function innermost(schema: Schema): Schema {
  const choices = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  const [only] = choices;
  if (only !== undefined && choices.length === 1) return innermost(only);
  if (schema.items !== undefined && schema.properties === undefined) return innermost(schema.items);
  return schema;
}

function nested(schema: Schema): string {
  const choices = (schema.oneOf ?? schema.anyOf ?? []).filter(hasFields);
  if (choices.length > 1) {
    const parts = choices.map((choice) => `<li class="choice">${fieldList(choice)}</li>`);
    return folded(`${choices.length} forms`, `<ul class="fields">${parts.join('')}</ul>`);
  }
  const inner = innermost(schema);
  if (hasFields(inner)) return folded(countOf(inner), fieldList(inner));
  const { additionalProperties } = inner;
  if (typeof additionalProperties === 'object' && hasFields(innermost(additionalProperties))) {
    const value = innermost(additionalProperties);
    return folded(`Each value: ${countOf(value)}`, fieldList(value));
  }
  if (inner !== schema && inner.oneOf !== undefined) return nested(inner);
  return '';
}

function hasFields({ properties }: Schema): boolean {
  return properties !== undefined && Object.keys(properties).length > 0;
}

function countOf({ properties = {} }: Schema): string {
  const count = Object.keys(properties).length;
  return count === 1 ? '1 field' : `${count} fields`;
}

function folded(summary: string, content: string): string {
  return `<details><summary>${summary}</summary>${content}</details>`;
}
