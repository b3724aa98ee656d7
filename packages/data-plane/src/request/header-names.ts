import type { HeaderFields } from '@gateway/http1/fields/header-fields';
import {
  MAX_RECORDED_HEADER_NAME_CHARS,
  MAX_RECORDED_HEADER_NAMES,
} from '@gateway/shared/records/record';
import { withoutTokenSecrets } from '@gateway/shared/tokens/secret';
import { inboundField } from './inbound-fields.ts';

/** The names of these fields in lower case, each once, without token secrets. Their number and length are bounded. */
export function headerNames(fields: HeaderFields): string[] {
  const names: string[] = [];
  let charsLeft = MAX_RECORDED_HEADER_NAME_CHARS;
  for (let index = 0; index < fields.length; index += 2) {
    const name = withoutTokenSecrets(inboundField(fields[index] ?? '').name);
    if (names.includes(name)) continue;
    charsLeft -= name.length;
    if (charsLeft < 0 || names.length === MAX_RECORDED_HEADER_NAMES) break;
    names.push(name);
  }
  return names;
}
