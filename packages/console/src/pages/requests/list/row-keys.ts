import { useEffect, useEffectEvent } from 'react';
import { isOccupied, useShortcutsEnabled } from '../../../shell/shortcuts.ts';

interface RowKeys {
  readonly ids: readonly string[];
  /** The request that is shown beside the list. */
  readonly open: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
}

/** The attribute of a row by which its link is found. */
export const ROW_ATTRIBUTE = 'data-request';

/** `j` and `k` move to the next and the previous row, and Escape closes what is shown beside the list. */
export function useRowKeys({ ids, open, onOpen }: RowKeys): void {
  const [enabled] = useShortcutsEnabled();
  const move = useEffectEvent((step: 1 | -1) => {
    const at = open ?? focusedRow();
    const index = at === undefined ? -1 : ids.indexOf(at);
    const next = ids[index < 0 ? (step > 0 ? 0 : ids.length - 1) : index + step];
    if (next === undefined) return;
    linkOf(next)?.focus({ preventScroll: true });
    linkOf(next)?.scrollIntoView({ block: 'nearest' });
    if (open !== undefined) onOpen(next);
  });
  const close = useEffectEvent(() => {
    if (open === undefined) return;
    linkOf(open)?.focus();
    onOpen(undefined);
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isOccupied(event.target)) return;
      if (event.key === 'Escape') close();
      else if (enabled && event.key === 'j') move(1);
      else if (enabled && event.key === 'k') move(-1);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [enabled]);
}

function focusedRow(): string | undefined {
  const row = document.activeElement?.closest(`[${ROW_ATTRIBUTE}]`);
  return row?.getAttribute(ROW_ATTRIBUTE) ?? undefined;
}

function linkOf(id: string): HTMLAnchorElement | null {
  return document.querySelector(`[${ROW_ATTRIBUTE}="${CSS.escape(id)}"] a[data-row-link]`);
}
