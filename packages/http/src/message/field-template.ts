import { eachField, type HeaderFields } from '../fields/header-fields.ts';
import { parseFieldLines, trimmed } from '../fields/parse-field-lines.ts';
import { ControlFields } from './framing.ts';
import { NOT_FIELD_TEXT } from './message-writer.ts';

/** What a message has in common with others: the same fields, of which some have other values. */
export interface CommonFields {
  /** The values that vary are empty. The messages share this list: nobody may change it. */
  readonly fields: HeaderFields;
  /** Where in the list the values are that vary, in order. Their names occur once. */
  readonly varying: readonly number[];
}

/** The field lines of a head, parsed. */
export interface FieldBlock {
  readonly fields: HeaderFields;
  readonly control: ControlFields;
  /** undefined: no value varies, or no other message is known to have the same fields. */
  readonly common: CommonFields | undefined;
}

const COLON = 0x3a;
/** Each costs about as much as parsing its line. */
const MAX_VARYING = 8;
/** The start and the end of each value that varies in the text that is being parsed. */
const bounds = new Uint32Array(2 * MAX_VARYING);

/**
 * The field lines of messages that differ in a few values, such as the id of a trace. The text between those values is
 * compared with that of a message at once, and only the values are read.
 */
export class FieldTemplate implements CommonFields {
  readonly fields: HeaderFields;
  readonly varying: readonly number[];
  /** How many messages had these lines. */
  hits = 0;
  /** The text before, between and after the values that vary. */
  readonly #parts: readonly string[];
  /** The block of each message if no value varies. */
  readonly #block: FieldBlock;
  readonly #variesControl: boolean;

  /** @param lines valid field lines, each with its CRLF */
  constructor(lines: string, varying: readonly number[]) {
    this.varying = varying;
    this.#parts = textAround(lines, varying);
    const control = new ControlFields();
    this.fields = parseFieldLines(this.#parts.join(''), 0, Infinity, control) as string[];
    this.#block = { fields: this.fields, control, common: undefined };
    this.#variesControl = varying.some((at) => ControlFields.has(this.fields[at - 1] ?? ''));
  }

  /** Parses the lines from `start` to the end of a text. Returns undefined if other values differ. */
  parse(text: string, start: number): FieldBlock | undefined {
    // Values are read last: that costs most, and a caller can make many templates that differ only after long values.
    if (!this.#hasSameParts(text, start)) return undefined;
    const { varying } = this;
    let fields: string[] | undefined;
    for (let index = 0; index < varying.length; index += 1) {
      const value = trimmed(text, bounds[2 * index] ?? 0, bounds[2 * index + 1] ?? 0);
      if (NOT_FIELD_TEXT.test(value)) return undefined;
      fields ??= this.fields.slice();
      fields[varying[index] ?? 0] = value;
    }
    this.hits += 1;
    if (fields === undefined) return this.#block;
    const control = this.#variesControl ? controlOf(fields) : this.#block.control;
    return { fields, control, common: this };
  }

  /** Whether a text has the parts of the template from `start` on. Notes the bounds of what is between them. */
  #hasSameParts(text: string, start: number): boolean {
    const parts = this.#parts;
    const count = this.varying.length;
    let at = start;
    for (let index = 0; index < count; index += 1) {
      const part = parts[index] ?? '';
      const from = at + part.length;
      if (text.charCodeAt(from - 1) !== COLON || text.slice(at, from) !== part) return false;
      at = text.indexOf('\r', from);
      bounds[2 * index] = from;
      bounds[2 * index + 1] = at;
    }
    return text.slice(at) === parts[count];
  }

  /** Whether a message has the same names in the same order. */
  hasNames(fields: HeaderFields): boolean {
    if (fields.length !== this.fields.length) return false;
    for (let at = 0; at < fields.length; at += 2) if (fields[at] !== this.fields[at]) return false;
    return true;
  }

  /** Which values vary if a message with the same names and these values is one of them; undefined: too many. */
  varyingWith(fields: HeaderFields): readonly number[] | undefined {
    const varying: number[] = [];
    for (let at = 1; at < fields.length; at += 2) {
      if (fields[at] !== this.fields[at] || this.varying.includes(at)) varying.push(at);
    }
    const canVary = varying.length <= MAX_VARYING && varying.every((at) => isOnly(fields, at - 1));
    return canVary ? varying : undefined;
  }
}

function controlOf(fields: HeaderFields): ControlFields {
  const control = new ControlFields();
  eachField(fields, (name, value) => {
    control.field(name, value);
  });
  return control;
}

/** Whether no other field has the name at this position. */
function isOnly(fields: HeaderFields, position: number): boolean {
  const name = fields[position]?.toLowerCase();
  return fields.every(
    (other, at) => at % 2 === 1 || at === position || other.toLowerCase() !== name,
  );
}

/** Copies, because a slice would keep the whole message in memory, with the values that vary. */
function textAround(lines: string, varying: readonly number[]): string[] {
  const parts: string[] = [];
  let from = 0;
  let line = 0;
  for (let at = 0; at < lines.length; line += 2) {
    const end = lines.indexOf('\r', at);
    if (varying.includes(line + 1)) {
      parts.push(copy(lines.slice(from, lines.indexOf(':', at) + 1)));
      from = end;
    }
    at = end + 2;
  }
  parts.push(copy(lines.slice(from)));
  return parts;
}

function copy(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
