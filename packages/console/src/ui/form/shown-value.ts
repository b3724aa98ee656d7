import { amountText, isAmountUnit } from '@gateway/client/amounts';
import type { FormField, FormFields } from '@gateway/client/form-fields';
import { valueText } from './draft.ts';

/** A value of the field at a path as its control shows it: `3 s`, `Each caller`, `on`. */
export function shownValue(path: string, value: unknown, form: FormFields): string {
  const { kind, choices = [], unit }: Partial<FormField> = fieldAt(path, form) ?? {};
  if (typeof value === 'number') {
    return isAmountUnit(unit) ? amountText(value, unit) : value.toLocaleString('en');
  }
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (kind === 'choice') return choices.find(([one]) => one === value)?.[1] ?? valueText(value);
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const texts = items.map(itemText);
  return texts.length === 0
    ? valueText(value)
    : valueText(texts.join(items.some(isObject) ? '; ' : ', '));
}

/** An object of a list in one line, such as `v1 svc_01k2 90`. */
function itemText(item: unknown): string {
  if (!isObject(item)) return String(item);
  return Object.values(item)
    .filter((value) => value !== null && value !== '')
    .map((value) => (typeof value === 'object' ? JSON.stringify(value) : String(value)))
    .join(' ');
}

function fieldAt(path: string, form: FormFields): FormField | undefined {
  const [name = '', ...rest] = path.split('.').filter((part) => !/^\d+$/.test(part));
  const field = form[name];
  return rest.length === 0 || field === undefined ? field : fieldAt(rest.join('.'), field.fields);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
