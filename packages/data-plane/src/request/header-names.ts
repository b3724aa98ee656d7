import type { HeaderFields } from '@gateway/http/fields/header-fields';
import {
  MAX_RECORDED_HEADER_NAME_CHARS,
  MAX_RECORDED_HEADER_NAMES,
} from '@gateway/shared/records/record';
import { withoutTokenSecrets } from '@gateway/shared/tokens/secret';
import { inboundField } from './inbound-fields.ts';

let lastFieldNames: readonly string[] = [];
let lastNames: string[] = [];

/**
 * The names of these fields in lower case, each once, without token secrets. Their number and length are bounded.
 *
 * Requests of one client, which have the same fields, share a list if no other client's came between: nobody may change
 * it.
 */
export function headerNames(fields: HeaderFields): string[] {
  if (!areLastNames(fields)) {
    lastFieldNames = fields.filter((_text, index) => index % 2 === 0);
    lastNames = recordedNames(lastFieldNames);
  }
  return lastNames;
}

/** Nearly all names are the same strings in each request, so that they are equal at a glance. */
function areLastNames(fields: HeaderFields): boolean {
  if (fields.length !== lastFieldNames.length * 2) return false;
  for (let index = 0; index < lastFieldNames.length; index += 1) {
    if (fields[index * 2] !== lastFieldNames[index]) return false;
  }
  return true;
}

function recordedNames(fieldNames: readonly string[]): string[] {
  const names: string[] = [];
  let charsLeft = MAX_RECORDED_HEADER_NAME_CHARS;
  for (const fieldName of fieldNames) {
    const name = withoutTokenSecrets(inboundField(fieldName).name);
    if (names.includes(name)) continue;
    charsLeft -= name.length;
    if (charsLeft < 0 || names.length === MAX_RECORDED_HEADER_NAMES) break;
    names.push(name);
  }
  return names;
}
