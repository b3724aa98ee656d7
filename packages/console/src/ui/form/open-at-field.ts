import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/** What can have the focus in a section of a form. */
const CONTROLS = ['input:not([type="hidden"])', 'select', 'textarea', 'button'];

/**
 * The field in the hash of the URL comes into view, and has the focus; its section is open then.
 * @param beginsFirst without a hash the first field of the form has the focus
 */
export function useOpenAtField(beginsFirst: boolean): void {
  const field = useLocation({ select: ({ hash }) => hash });
  const opened = useRef<string>(undefined);
  useEffect(() => {
    if (opened.current === field) return;
    const isFirst = opened.current === undefined;
    opened.current = field;
    if (field === '') {
      if (isFirst && beginsFirst) controlOf('[data-field]')?.focus();
      return;
    }
    const name = CSS.escape(field);
    const section = document.querySelector(`[data-fields~="${name}"]`);
    section?.scrollIntoView({ block: 'start' });
    const control =
      controlOf(`[data-field="${name}"]`) ??
      // Another control of the section has the field.
      controlOf(`[data-fields~="${name}"] [data-field]`);
    control?.focus({ preventScroll: true });
  }, [field, beginsFirst]);
}

/** The first control below the elements of a selector. */
function controlOf(selector: string): HTMLElement | null {
  return document.querySelector(CONTROLS.map((control) => `${selector} ${control}`).join());
}
