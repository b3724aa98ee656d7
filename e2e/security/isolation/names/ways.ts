import type { ApiDocument, Operation } from '../../../api/contract/document.ts';
import { collectionOf, endpointOf, placesOf, type Place } from './places.ts';
import { NAMES_NOTHING, NAMING, PLACES_NAME_NOTHING, type NamingRow } from './reaches.ts';

/** A place of an operation whose value can name something. */
export interface Way {
  readonly place: Place;
  readonly row: NamingRow;
}

/** @throws Error if nobody has said what the value at a place names */
export function waysOf(document: ApiDocument, operation: Operation): readonly Way[] {
  const places = ['header X-Gateway-Environment', ...placesOf(document, operation)];
  return places.flatMap((place) => wayOf(operation, place));
}

function wayOf(operation: Operation, place: Place): readonly Way[] {
  const key = keyOf(operation, place);
  const row = key === undefined ? undefined : NAMING.get(key);
  if (row !== undefined) return [{ place, row }];
  if (key !== undefined) return [];
  throw new Error(
    `The isolation matrix does not know ${place} of ${endpointOf(operation)}. If its value can name an environment, ` +
      'service, route, token, caller, request, version or data plane, add a row to NAMING in ' +
      'e2e/security/isolation/names/reaches.ts, else its name to NAMES_NOTHING there.',
  );
}

/** What the tables have the place under; undefined: nothing. */
export function keyOf(operation: Operation, place: Place): string | undefined {
  const keys = keysOf(operation, place);
  const known = keys.find((key) => PLACES_NAME_NOTHING.has(key) || NAMING.has(key));
  return known ?? (NAMES_NOTHING.has(nameOf(place)) ? nameOf(place) : undefined);
}

/** Where the table can have the place, the most special first. */
function keysOf(operation: Operation, place: Place): readonly string[] {
  const { method } = operation;
  const collection = collectionOf(operation);
  return [
    `${endpointOf(operation)} ${place}`,
    `${method} ${collection} ${place}`,
    `${collection} ${place}`,
    `${method} ${place}`,
    place,
    ...(place.includes('.') ? [`*.${nameOf(place)}`] : []),
  ];
}

function nameOf(place: Place): string {
  return place.split(/[ .]/).at(-1) ?? '';
}
