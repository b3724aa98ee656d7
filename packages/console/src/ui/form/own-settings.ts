import { usualValues, type FormField, type FormFields } from '@gateway/client/form-fields';
import { isSame, type Draft } from './draft.ts';

/** The settings of a resource that do not have their defaults, as an export has them. Undefined ones are left out. */
export function ownSettings(fields: FormFields, values: Draft): Record<string, unknown> {
  const usual = usualValues(fields);
  const own = Object.entries(fields).flatMap(([name, field]): [string, unknown][] => {
    const value = values[name];
    if (value === undefined || isSame(value, usual[name])) return [];
    const inner = isPlainObject(value) && isObjectField(field) ? within(field, value) : value;
    const isEmpty = field.nullMeans === undefined && isPlainObject(inner) && isEmptyObject(inner);
    return isEmpty && isObjectField(field) ? [] : [[name, inner]];
  });
  return Object.fromEntries(own);
}

function within({ fields }: FormField, value: Draft): Draft {
  // A field that the form does not know stays as it is.
  const others = Object.entries(value).filter(([name]) => !Object.hasOwn(fields, name));
  return { ...ownSettings(fields, value), ...Object.fromEntries(others) };
}

const isObjectField = ({ kind }: FormField) => kind === 'object';

const isEmptyObject = (value: object) => Object.keys(value).length === 0;

function isPlainObject(value: unknown): value is Draft {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
