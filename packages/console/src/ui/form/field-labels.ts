import type { FormField, FormFields } from '@gateway/client/form-fields';

/** The field of a form that has this name, also within an object. */
function fieldNamed(name: string, form: FormFields): FormField | undefined {
  return form[name] ?? Object.values(form).find(({ fields }) => name in fields)?.fields[name];
}

/** The text with fields of the API, such as `retry_count`, as the form names them: “Retries”. */
export function withLabels(text: string, form: FormFields): string {
  return text.replaceAll(/\w+_\w+/g, (name) => {
    const field = fieldNamed(name, form);
    return field === undefined || field.label === name ? name : `“${field.label}”`;
  });
}

/** A message of the API about a field: with other fields by their labels, and bounds with commas. */
export function messageText(message: string | undefined, form: FormFields): string | undefined {
  return (
    message &&
    withLabels(message, form).replaceAll(/(?<= from | to )\d{4,}(?!\S)/g, (digits) =>
      Number(digits).toLocaleString('en'),
    )
  );
}

/**
 * What a form calls the field at a path of the API: `Deadline`, `Quota, Window` for `rate_limit.window_seconds`,
 * `Upstream 1, URL` for `upstreams.0.url`. A field that is not defined has its name in words.
 */
export function fieldLabel(path: string, form: FormFields = {}): string {
  const labels: string[] = [];
  let fields = form;
  let list: FormField | undefined;
  for (const name of path.split('.')) {
    if (/^\d+$/.test(name)) {
      // An item of a list of texts has no field of its own.
      if (list?.kind === 'list') break;
      labels.splice(
        -1,
        1,
        `${list?.one ?? list?.label ?? labels.at(-1) ?? 'Item'} ${Number(name) + 1}`,
      );
      continue;
    }
    const field: FormField | undefined = fields[name];
    // The path of `Path 2` needs no name.
    const isNamed = list?.one !== undefined && field?.label.startsWith(list.one) === true;
    if (!isNamed)
      labels.push(field === undefined || field.label === name ? inWords(name) : field.label);
    list = field;
    fields = field?.fields ?? {};
  }
  return labels.slice(-MAX_PARTS).join(', ');
}

/** Further parts say nothing that the page around the field does not. */
const MAX_PARTS = 3;

function inWords(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
