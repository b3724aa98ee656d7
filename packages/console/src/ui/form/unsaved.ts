import { useEffect } from 'react';

/** The forms of the page that have input which is not saved. */
const forms = new Set<object>();

/** Whether a form of the page has input that would be lost. */
export function hasUnsaved(): boolean {
  return forms.size > 0;
}

/** Forgets the input that the reader chose to lose, so that nothing asks again. */
export function discardUnsaved(): void {
  forms.clear();
}

/** Keeps a form among those with unsaved input, as long as it has some. @param edits changes with each edit */
export function useUnsaved(isUnsaved: boolean, edits: unknown): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const form = {};
    forms.add(form);
    return () => void forms.delete(form);
  }, [isUnsaved, edits]);
}
