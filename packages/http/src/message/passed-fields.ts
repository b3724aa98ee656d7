import type { HeaderFields } from '../fields/header-fields.ts';
import { ENDS_LINE, fieldLines } from './message-writer.ts';

/** Fields that were read from a head and are sent on. Their lines are made once, for all messages that share them. */
export class PassedFields {
  readonly fields: HeaderFields;
  #lines: string | undefined = undefined;
  /** Whether they have a Content-Length, and a Date. */
  hasLength = false;
  hasDate = false;

  constructor(fields: HeaderFields) {
    this.fields = fields;
    for (let index = 0; index < fields.length; index += 2) {
      const name = fields[index] ?? '';
      if (name.length === 14) this.hasLength ||= name.toLowerCase() === 'content-length';
      else if (name.length === 4) this.hasDate ||= name.toLowerCase() === 'date';
    }
  }

  /** The lines of the fields, each with its CRLF. */
  get lines(): string {
    return (this.#lines ??= fieldLines(this.fields, ENDS_LINE));
  }
}

/** For a response with only the gateway's own fields. */
export const NONE_PASSED = new PassedFields([]);
