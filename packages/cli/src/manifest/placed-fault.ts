import type { ErrorDetail } from '@gateway/client';
import { pointerParts } from '../input/json-pointer.ts';
import { placeInManifest, type Manifest } from './manifest.ts';

/** A fault of a document at its place in a file, such as `gateway.yaml:7:17: route charges: timeout_ms must be …`. */
export function placedFault(manifest: Manifest, { path, message }: ErrorDetail): string {
  const place = placeInManifest(manifest, path);
  if (place === undefined) return `${path}: ${message}`;
  const field = pointerParts(path).slice(2).join('.');
  // The rule comes after the resource, such as `route charges: must be …`.
  const [, resource = '', rule = ''] =
    /^((?:(?:service|route) [\w. -]+: )?)(.*)$/s.exec(message) ?? [];
  return `${place}: ${resource}${field === '' ? '' : `${field} `}${rule}`;
}

/** Line 10 comes after line 9. */
const byPlace = new Intl.Collator('en', { numeric: true });

/** Faults in the order of the files. */
export const inOrder = (faults: readonly string[]): string[] =>
  [...faults].sort((a, b) => byPlace.compare(a, b));
