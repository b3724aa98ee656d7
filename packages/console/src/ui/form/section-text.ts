import {
  plainText,
  usualValues,
  type FormField,
  type FormFields,
} from '@gateway/client/form-fields';
import { visibleText } from '../visible-text.ts';
import type { Draft } from './draft.ts';
import { withLabels } from './field-labels.ts';
import type { FoldedSection } from './section.ts';
import { shownOf } from './shown-value.ts';

/** What the fields of a section are now, such as `Query size limit: 16 KiB; Via: off`. */
function sectionText(names: readonly string[], fields: FormFields, draft: Draft): string {
  const texts = names.flatMap((name) => {
    const field = fields[name];
    return field === undefined ? [] : fieldTexts(field, draft[name], fields, names.length === 1);
  });
  return texts.join('; ');
}

function fieldTexts(
  field: FormField,
  value: unknown,
  form: FormFields,
  isAlone: boolean,
): readonly string[] {
  const { kind, label, nullMeans = 'the default', fields } = field;
  if (kind === 'object') {
    if (typeof value !== 'object' || value === null) return [offText(field.nullMeans)];
    const inner = value as Draft;
    return Object.entries(fields).flatMap(([name, one]) =>
      fieldTexts(one, inner[name], form, false),
    );
  }
  const isNone = value === null || value === undefined;
  const text = isNone ? plainText(withLabels(nullMeans, form)) : shownOf(field, value);
  return [isAlone ? capital(text) : `${label}: ${text}`];
}

/** An object that is null, which means this. */
function offText(nullMeans = 'nothing'): string {
  return `Off: ${plainText(nullMeans)}.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A draft of which sentences can be made. */
export interface ReadableDraft {
  /** With the defaults in place of what is no value of its field, and null for what is left out and may be null. */
  readonly draft: Draft;
  /** The fields that have such a value. */
  readonly unreadable: ReadonlySet<string>;
}

/** A draft has what was typed, so a number may be a text, and a list may be missing. */
export function readableDraft(fields: FormFields, draft: Draft): ReadableDraft {
  const wrong = Object.entries(fields).filter(([name, field]) => !isOfKind(field, draft[name]));
  const unreadable = new Set(wrong.map(([name]) => name));
  const usual = usualValues(Object.fromEntries(wrong));
  return { draft: withNulls(fields, { ...draft, ...usual }), unreadable };
}

function withNulls(fields: FormFields, draft: Draft): Draft {
  const whole: Record<string, unknown> = { ...draft };
  for (const [name, { kind, nullMeans, fields: inner }] of Object.entries(fields)) {
    const value = draft[name];
    if (value === undefined && nullMeans !== undefined) whole[name] = null;
    if (kind === 'object' && typeof value === 'object' && value !== null) {
      whole[name] = withNulls(inner, value as Draft);
    }
  }
  return whole;
}

/** What a section does now: in the words of its own, or by the values of its fields. */
export function sentenceOf(
  { fields: names, sentence }: FoldedSection,
  fields: FormFields,
  draft: Draft,
  readable: ReadableDraft,
): string {
  const wrong = names.filter((name) => readable.unreadable.has(name));
  if (wrong.length > 0) return wrongText(wrong, fields, draft);
  return sentence?.(readable.draft) ?? sectionText(names, fields, draft);
}

/** What was typed and is no value of its field: `Not valid: Deadline “soon”.` */
function wrongText(names: readonly string[], fields: FormFields, draft: Draft): string {
  const texts = names.flatMap((name) => {
    const field = fields[name];
    return field === undefined ? [] : wrongTexts(field, draft[name]);
  });
  return `Not valid: ${texts.join(', ')}.`;
}

function wrongTexts(field: FormField, value: unknown): readonly string[] {
  if (isOfKind(field, value)) return [];
  if (field.kind === 'object' && typeof value === 'object' && value !== null) {
    return Object.entries(field.fields).flatMap(([name, one]) =>
      wrongTexts(one, (value as Draft)[name]),
    );
  }
  const typed = typeof value === 'string' && value !== '' ? ` “${visibleText(value)}”` : '';
  return [field.label + typed];
}

const MAY_BE_LEFT_OUT: readonly FormField['kind'][] = ['integer', 'number', 'other'];

function isOfKind({ kind, nullMeans, fields, hasNumbers, usual }: FormField, value: unknown) {
  if (value === null) return nullMeans !== undefined;
  // What may be null may be left out, and so may a number whose default depends on other fields.
  if (value === undefined) {
    return nullMeans !== undefined || (usual === undefined && MAY_BE_LEFT_OUT.includes(kind));
  }
  switch (kind) {
    case 'integer':
    case 'number':
      return typeof value === 'number';
    case 'list':
      return Array.isArray(value) && (!hasNumbers || value.every((one) => typeof one === 'number'));
    case 'object':
      return isReadableObject(fields, value);
    case 'switch':
    case 'text':
    case 'choice':
    case 'other':
      return true;
  }
}

function isReadableObject(fields: FormFields, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(fields).every(([name, field]) => isOfKind(field, (value as Draft)[name]));
}
