import { flushSync } from 'react-dom';

/** What can have the focus. */
const CONTROLS = 'input:not([type="hidden"]), select, textarea, button';

/**
 * The control of the field at a path of the API, in a form: itself, else one below it, else that of what it is a part of.
 * undefined: the form does not show it.
 */
export function controlOf(form: ParentNode, path: string): HTMLElement | undefined {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const name = CSS.escape(at);
    const found =
      form.querySelector<HTMLElement>(`[data-path~="${name}"]`) ??
      form.querySelector<HTMLElement>(`[data-path^="${name}."]`);
    if (found === null) continue;
    if (found.matches(CONTROLS)) return found;
    const inner = found.querySelector<HTMLElement>(CONTROLS);
    if (inner !== null) return inner;
  }
  return undefined;
}

/** Brings the control of a field into view, unfolds its section, and gives it the focus. */
export function focusField(form: ParentNode, path: string): void {
  const control = controlOf(form, path);
  const row = control
    ?.closest('[data-fields]')
    ?.querySelector<HTMLElement>('button[aria-expanded="false"]');
  // What is folded cannot have the focus.
  if (row) flushSync(() => row.click());
  control?.scrollIntoView({ block: 'center' });
  control?.focus({ preventScroll: true });
}
