import { useEffect, useEffectEvent } from 'react';
import { isOccupied } from '../../../shell/shortcuts.ts';
import { rowLink } from '../../../ui/row-link.ts';

/** Escape closes the request beside the list, and its row has the focus again. */
export function useCloseKey(isOpen: boolean, onClose: () => void): void {
  const close = useEffectEvent(() => {
    const row = document.querySelector('[data-open-beside]');
    if (row !== null) rowLink(row)?.focus();
    onClose();
  });
  useEffect(() => {
    if (!isOpen) return;
    const listen = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || isOccupied(event.target)) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      close();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [isOpen]);
}
