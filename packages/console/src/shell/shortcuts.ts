import { useLocalStorage } from '@mantine/hooks';
import { useEffect, useEffectEvent } from 'react';
import { moveToRow, openRow } from '../ui/row-link.ts';

interface ShortcutActions {
  readonly onHelp: () => void;
  /** Cmd-K, or Ctrl-K, also within a field. */
  readonly onPalette: () => void;
  /** `g` and then this key was pressed. */
  readonly onJump: (key: string) => void;
}

/** After `g`, how long the next key counts as its second. */
const SEQUENCE_MS = 1500;

/** Whether single keys are shortcuts. People who dictate text need to switch them off (WCAG 2.1.4). */
export function useShortcutsEnabled() {
  return useLocalStorage({ key: 'gateway-console-shortcuts', defaultValue: true });
}

/**
 * The keys of the console: Cmd-K opens the palette, `/` focuses the search, `?` lists the keys, `g` and a letter lead to a
 * page, `j` and `k` to the next and the previous row of a list, which `o` opens.
 */
export function useShortcuts({ onHelp, onPalette, onJump }: ShortcutActions): void {
  const [enabled] = useShortcutsEnabled();
  const help = useEffectEvent(onHelp);
  const palette = useEffectEvent(onPalette);
  const jump = useEffectEvent(onJump);
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || event.metaKey === event.ctrlKey) return;
      if (event.altKey || event.shiftKey) return;
      // Browsers have other uses for it.
      event.preventDefault();
      palette();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
  useEffect(() => {
    if (!enabled) return;
    let startedAt = -Infinity;
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isOccupied(event.target)) return;
      if (event.timeStamp - startedAt < SEQUENCE_MS) {
        startedAt = -Infinity;
        jump(event.key);
      } else if (event.key === 'g') startedAt = event.timeStamp;
      else if (event.key === '?') help();
      else if (event.key === 'j') moveToRow(1);
      else if (event.key === 'k') moveToRow(-1);
      else if (event.key === 'o') openRow();
      else if (event.key === '/' && focusSearch()) event.preventDefault();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [enabled]);
}

const OCCUPIED = 'input,textarea,select,[role=dialog],[role=menu],[role=listbox]';

/** Whether a key belongs to what has the focus: a field, a menu, or a dialog. */
export function isOccupied(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest(OCCUPIED) !== null;
}

function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('input[data-search]');
  field?.focus();
  field?.select();
  return field !== null;
}
