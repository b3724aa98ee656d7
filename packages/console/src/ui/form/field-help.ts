import {
  boundsText,
  plainText,
  type FormField,
  type FormFields,
} from '@gateway/client/form-fields';

/** A longer text would be cut in the narrowest field. */
const MAX_PLACEHOLDER = 36;

/** What a form says of a field. */
export interface FieldWords {
  readonly description: string;
  /** In the empty field: what null means, where it is short. */
  readonly emptyMeans?: string;
}

/** The words of the API for a field as readers of the form know them: with the labels of fields and choices, not their names. */
export function fieldWords(field: FormField, form: FormFields): FieldWords {
  const { kind, min, nullMeans } = field;
  const help = withLabels(withChoices(field), form);
  // The control of another kind shows its default itself.
  const bounds = min === undefined ? undefined : boundsText(field);
  const sentences = [help, ...(bounds === undefined ? [] : [`${grouped(capital(bounds))}.`])];
  const canBeEmpty = ['integer', 'number', 'text', 'list'].includes(kind);
  if (nullMeans === undefined || !canBeEmpty) return { description: sentences.join(' ') };
  const empty = withLabels(nullMeans, form);
  if (empty.length <= MAX_PLACEHOLDER) {
    return { description: sentences.join(' '), emptyMeans: empty };
  }
  return { description: [...sentences, `Empty: ${empty}.`].join(' '), emptyMeans: '' };
}

/** A value that is explained, such as `store`: …, by the first words of its label. */
function withChoices({ help, choices }: FormField): string {
  const labels = new Map(choices);
  return help.replaceAll(/`(\w+)`:/g, (all, value: string) => {
    const label = labels.get(value);
    return label === undefined ? all : `“${label.replace(/:.*/, '')}”:`;
  });
}

/** Another field of the form, such as `retry_count`, by its label. */
function withLabels(markdown: string, form: FormFields): string {
  return plainText(
    markdown.replaceAll(/`[^`]+`/g, (code) =>
      code.replaceAll(/\w+_\w+/g, (name) => {
        const label = labelOf(name, form);
        return label === undefined ? name : `“${label}”`;
      }),
    ),
  );
}

function labelOf(name: string, form: FormFields): string | undefined {
  const found =
    form[name] ?? Object.values(form).find(({ fields }) => name in fields)?.fields[name];
  return found === undefined || found.label === name ? undefined : found.label;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** With a no-break space between groups of three digits, from 10 000 on. */
function grouped(text: string): string {
  return text.replaceAll(/\d{5,}/g, (digits) => digits.replaceAll(/\B(?=(\d{3})+$)/g, '\u00A0'));
}
