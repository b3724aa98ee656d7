import type { GatewayClient } from '@gateway/client';
import { idsInTexts, readableTexts } from '@gateway/client/explained-text';
import { resourceNames, type NameOf } from './resource-names.ts';

/** Fields of resources that have the id of another one, and what a person calls each. */
const REFERENCES: Readonly<Record<string, string>> = {
  service_id: 'service',
  token_id: 'token',
  created_by: 'created_by',
  changed_by: 'changed_by',
};

/**
 * A resource for people: names stand where it has the ids of services and tokens.
 * @param isWide whether the ids stand beside the names
 */
export async function namedReferences(
  client: GatewayClient,
  resource: unknown,
  isWide: boolean,
): Promise<unknown> {
  const ids: string[] = [];
  mapReferences(resource, (id) => {
    ids.push(id);
    return undefined;
  });
  if (ids.length === 0) return resource;
  const nameOf: NameOf = await resourceNames(client, ids);
  return mapReferences(resource, (id) => {
    const name = nameOf(id);
    if (name === id || name === null) return undefined;
    return isWide ? `${name} (${id})` : name;
  });
}

/** @param text undefined: the field stays as it is */
function mapReferences(value: unknown, text: (id: string) => string | undefined): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => mapReferences(item, text));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([field, given]: [string, unknown]) => {
    const label = Object.hasOwn(REFERENCES, field) ? REFERENCES[field] : undefined;
    if (label !== undefined && typeof given === 'string') {
      const named = text(given);
      return named === undefined ? [field, given] : [label, named];
    }
    if (label !== undefined && Array.isArray(given)) {
      return [
        label,
        given.map((one: unknown) => (typeof one === 'string' ? (text(one) ?? one) : one)),
      ];
    }
    return [field, mapReferences(given, text)];
  });
  return Object.fromEntries(fields) as unknown;
}

/** An explanation for people: names stand for ids wherever a text of it has one, and times and sizes have their usual units. */
export async function namedSentences<Value>(
  client: GatewayClient,
  value: Value,
  isWide: boolean,
): Promise<Value> {
  const nameOf = await resourceNames(client, idsInTexts(value));
  return readableTexts(value, (id) => {
    const name = nameOf(id);
    return name === id || name === null ? id : isWide ? `${name} (${id})` : name;
  });
}
