import {
  boundsText,
  plainText,
  type FormField,
  type FormFields,
} from '@gateway/client/form-fields';
import { withLabels } from './field-labels.ts';

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
  const { kind, nullMeans } = field;
  const help = plainLabels(withChoices(field), form);
  // The control of another kind shows its default itself.
  const bounds = boundsOf(field);
  const sentences = [help, ...(bounds === undefined ? [] : [`${capital(bounds)}.`])];
  const canBeEmpty = ['integer', 'number', 'text', 'list'].includes(kind);
  if (nullMeans === undefined || !canBeEmpty) return { description: sentences.join(' ') };
  const empty = plainLabels(nullMeans, form);
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
function plainLabels(markdown: string, form: FormFields): string {
  return plainText(markdown.replaceAll(/`[^`]+`/g, (code) => withLabels(code, form)));
}

/** The bounds and the default in words. */
function boundsOf(field: FormField): string | undefined {
  const { min, max } = field;
  if (min === undefined || max === undefined) return undefined;
  return `from ${boundsText(field)?.replaceAll(/\d{4,}/g, withCommas)}`;
}

function withCommas(digits: string): string {
  return Number(digits).toLocaleString('en');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
