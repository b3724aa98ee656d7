import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/** What can have the focus in a section of a form. */
const CONTROLS = 'input:not([type="hidden"]), select, textarea, button';

/** The sections of a form; the one that has the field in the hash of the URL comes into view, and has the focus. */
export function useOpenAtField() {
  const field = useLocation({ select: ({ hash }) => hash });
  const opened = useRef('');
  useEffect(() => {
    if (field === '' || opened.current === field) return;
    opened.current = field;
    const section = document.querySelector<HTMLElement>(`[data-fields~="${CSS.escape(field)}"]`);
    section?.scrollIntoView({ block: 'start' });
    section?.querySelector<HTMLElement>(CONTROLS)?.focus({ preventScroll: true });
  }, [field]);
}
