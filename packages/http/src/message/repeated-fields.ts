import type { Clock, Timer } from '../clock.ts';
import type { HeaderFields } from '../fields/header-fields.ts';
import { parseFieldLines } from '../fields/parse-field-lines.ts';
import { FieldTemplate, type CommonFields, type FieldBlock } from './field-template.ts';
import { ControlFields } from './framing.ts';

/*
 * Fields that come again and again. Their lines are parsed once, so that messages share the list of fields, and what
 * is computed from such a list is computed once (docs/adr/0084).
 */

/** How long a list is kept for further messages, in use or not, because it may contain a credential. */
export const KEPT_MS = 10_000;

/** How many templates are kept, and the longest block that makes one, so that they take at most 200 KiB. */
const TEMPLATES = 32;
const MAX_CHARS = 2048;
/** A hit earns one credit. Without the credit to make a template, one block in `PROBED` is looked up. */
const MAX_CREDIT = 256;
const COST_OF_TEMPLATE = 4;
const PROBED = 64;
/** Where this many messages in a row had a value, it does not vary but has changed, as `Date` once a second. */
const STEADY_HITS = 16;
const NONE_VARY: readonly number[] = [];

const shared = new WeakSet<HeaderFields>();

/** Several messages have this list, because their field lines were the same. Nobody may change it. */
export function shareFields(fields: HeaderFields): void {
  shared.add(fields);
}

/** Stands for a value that is not cached, because it depends on fields that vary. */
const VARIES = Symbol('varies');

/**
 * Caches what is computed from a list of fields alone, for those lists that several messages share, as long as the list
 * itself is kept; and for messages that have only some fields in common, if `compute` reads no other. `read` is what was
 * computed from the list before.
 *
 * @param reads whether `compute` reads a field with this name; by default it reads all
 */
export function cacheByFields<Value extends object | string, Read = void>(
  compute: (fields: HeaderFields, read: Read) => Value,
  reads: (name: string) => boolean = () => true,
): (fields: HeaderFields, read: Read, common?: CommonFields) => Value {
  const known = new WeakMap<HeaderFields, Value | typeof VARIES>();
  return (fields, read, common) => {
    const key = common?.fields ?? fields;
    const found = known.get(key);
    if (found !== undefined && found !== VARIES) return found;
    const value = compute(fields, read);
    if (found === undefined && shared.has(key)) {
      const varies = common?.varying.some((at) => reads(key[at - 1] ?? '')) === true;
      known.set(key, varies ? VARIES : value);
    }
    return value;
  };
}

/** As `parseFieldLines`. With `blocks`, one that repeats is parsed once. */
export function parseFieldBlock(
  text: string,
  start: number,
  maxLines: number,
  blocks?: FieldBlocks,
): FieldBlock | 'malformed' | 'too_many_lines' {
  if (blocks !== undefined) return blocks.parse(text, start, maxLines);
  const control = new ControlFields();
  const fields = parseFieldLines(text, start, maxLines, control);
  return typeof fields === 'string' ? fields : { fields, control, common: undefined };
}

/**
 * The blocks of field lines that come again and again, as on most connections of a caller, also if a few values differ
 * each time. A template of them is made from the first one, and kept for at most ten seconds. Where blocks have nothing
 * in common they are not looked up any more, except a few, which show whether they do now.
 */
export class FieldBlocks {
  readonly #clock: Clock;
  readonly #templates: FieldTemplate[] = [];
  /** The last one that was found. */
  #last: FieldTemplate | undefined = undefined;
  /** Where the next one is kept. */
  #next = 0;
  #credit = MAX_CREDIT;
  #skipped = 0;
  #timer: Timer | undefined = undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As `parseFieldBlock`, with the same result. The text before `start` must be valid. */
  parse(
    text: string,
    start: number,
    maxLines: number,
  ): FieldBlock | 'malformed' | 'too_many_lines' {
    const isLookedUp = text.length - start <= MAX_CHARS && this.#mayRepeat();
    if (!isLookedUp) return parseFieldBlock(text, start, maxLines);
    const found = this.#last?.parse(text, start) ?? this.#find(text, start);
    if (found !== undefined) {
      this.#credit = Math.min(MAX_CREDIT, Math.max(COST_OF_TEMPLATE, this.#credit) + 1);
      return found.fields.length > maxLines * 2 ? 'too_many_lines' : found;
    }
    const block = parseFieldBlock(text, start, maxLines);
    if (typeof block !== 'string') this.#learn(text.slice(start), block.fields);
    return block;
  }

  #mayRepeat(): boolean {
    if (this.#credit >= COST_OF_TEMPLATE) return true;
    this.#skipped += 1;
    if (this.#skipped < PROBED) return false;
    this.#skipped = 0;
    return true;
  }

  #find(text: string, start: number): FieldBlock | undefined {
    for (const template of this.#templates) {
      const found = template.parse(text, start);
      if (found === undefined) continue;
      this.#last = template;
      return found;
    }
    return undefined;
  }

  /** Makes a template for a block. It replaces the template whose fields have the same names, if there is one. */
  #learn(lines: string, fields: HeaderFields): void {
    this.#credit = Math.max(0, this.#credit - COST_OF_TEMPLATE);
    const like = this.#templates.findIndex((template) => template.hasNames(fields));
    const template = new FieldTemplate(lines, varyingOf(this.#templates[like], fields));
    shareFields(template.fields);
    this.#templates[like === -1 ? this.#next : like] = template;
    if (like === -1) this.#next = (this.#next + 1) % TEMPLATES;
    this.#last = template;
    this.#timer ??= this.#clock.setTimer(KEPT_MS, () => {
      this.clear();
    });
  }

  /** Forgets all blocks. Call it when no more heads are expected. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#templates.length = 0;
    this.#last = undefined;
    this.#next = 0;
  }
}

/** Which values vary in messages that have the names of a template and these values. */
function varyingOf(template: FieldTemplate | undefined, fields: HeaderFields): readonly number[] {
  if (template === undefined) return NONE_VARY;
  if (template.hits >= STEADY_HITS) return template.varying;
  return template.varyingWith(fields) ?? NONE_VARY;
}
