import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import type { FieldErrors } from './field-errors.ts';
import type { Section } from './section.ts';

/** Which sections of a form are open, by their titles. */
export interface Folds {
  readonly isOpen: (title: string) => boolean;
  readonly toggle: (title: string) => void;
  readonly areAllOpen: boolean;
  readonly setAll: (open: boolean) => void;
}

/**
 * The folds of a form. A section opens by itself if the hash of the URL names a field of it, and if the API says that
 * something in it is wrong; it opens before the focus goes there.
 */
export function useFolds(sections: readonly Section[], errors: FieldErrors): Folds {
  const hash = useLocation({ select: (location) => location.hash });
  const [open, setOpen] = useState<ReadonlySet<string>>(() => titlesOf(sections, isNamed(hash)));
  const [seen, setSeen] = useState({ hash, errors });
  // While it renders, and not in an effect: what is folded cannot have the focus.
  if (seen.hash !== hash || seen.errors !== errors) {
    setSeen({ hash, errors });
    const named = seen.hash === hash ? [] : titlesOf(sections, isNamed(hash));
    const wrong =
      seen.errors === errors
        ? []
        : titlesOf(sections, (field) => errors.within(field) !== undefined);
    setOpen(new Set([...open, ...named, ...wrong]));
  }
  return {
    isOpen: (title) => open.has(title),
    toggle(title) {
      const next = new Set(open);
      if (!next.delete(title)) next.add(title);
      setOpen(next);
    },
    areAllOpen: sections.every(({ title }) => open.has(title)),
    setAll: (all) => setOpen(new Set(all ? sections.map(({ title }) => title) : [])),
  };
}

const isNamed = (hash: string) => (field: string) => field === hash;

function titlesOf(sections: readonly Section[], has: (field: string) => boolean): Set<string> {
  return new Set(sections.filter(({ fields }) => fields.some(has)).map(({ title }) => title));
}
