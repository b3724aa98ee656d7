import { amountText, isAmountUnit } from '@gateway/client/amounts';
import { fieldAt, type FormField, type FormFields } from '@gateway/client/form-fields';
import { valueText } from './draft.ts';

/** A value of a field as its control shows it: `3 s`, `Each caller`, `on`. undefined: the field is not defined. */
export function shownOf(field: FormField | undefined, value: unknown): string {
  if (typeof value === 'number') return numberText(value, field?.unit);
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  const choice = field?.choices.find(([one]) => one === value);
  if (choice !== undefined) return choice[1];
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  if (items.length === 0) return valueText(value);
  return valueText(items.map(itemText).join(items.some(isObject) ? '; ' : ', '));
}

/** A value of the field at a path as its control shows it. */
export function shownValue(path: string, value: unknown, form: FormFields): string {
  return shownOf(fieldAt(form, path), value);
}

function numberText(value: number, unit: string | undefined): string {
  if (isAmountUnit(unit)) return amountText(value, unit);
  const number = value.toLocaleString('en', { maximumFractionDigits: 15 });
  return unit === undefined ? number : `${number} ${unit}`;
}

/** An object of a list in one line, such as `v1 svc_01k2 90`. */
function itemText(item: unknown): string {
  if (!isObject(item)) return String(item);
  return Object.values(item)
    .filter((value) => value !== null && value !== '')
    .map((value) => (typeof value === 'object' ? JSON.stringify(value) : String(value)))
    .join(' ');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
