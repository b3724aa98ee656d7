import { createContext, use } from 'react';
import { valueAt, type Draft } from './draft.ts';
import { messageText } from './field-labels.ts';
import { FormDefinition } from './form-definition.ts';
import type { FieldErrors } from './field-errors.ts';

/** What the fields of a form share. */
export interface FormState {
  readonly draft: Draft;
  /** What the draft was before it was edited. */
  readonly base: Draft;
  /** Of what is still as it was sent. */
  readonly errors: FieldErrors;
  /** Of all that was sent: the same object until it is sent again. */
  readonly said: FieldErrors;
  readonly set: (path: string, value: unknown) => void;
}

export const FormContext = createContext<FormState | undefined>(undefined);

/** The form that the component is part of. */
export function useForm(): FormState {
  const form = use(FormContext);
  if (form === undefined) throw new Error('A field must be in a ResourceForm.');
  return form;
}

/** The value of a field, its error, and how to change it. */
export function useField(path: string) {
  const { draft, base, errors, set } = useForm();
  const form = use(FormDefinition);
  return {
    value: valueAt(draft, path),
    /** The value before it was edited. */
    original: valueAt(base, path),
    error: messageText(errors.at(path), form),
    errorWithin: messageText(errors.within(path), form),
    set: (value: unknown) => set(path, value),
  };
}
