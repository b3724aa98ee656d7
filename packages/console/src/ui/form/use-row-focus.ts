import { useEffect, useRef, type RefObject } from 'react';

const CONTROLS = 'input:not([type="hidden"]), select, textarea';

/**
 * Gives the focus to the first control of a row that was added, and after a removal to the row that took its place.
 * @param rows how many there are
 * @returns for the element whose children are the rows
 */
export function useRowFocus(rows: number): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null);
  const before = useRef(rows);
  const at = useRef(0);
  useEffect(() => {
    const change = rows - before.current;
    before.current = rows;
    const row = change > 0 ? rows - 1 : Math.min(at.current, rows - 1);
    if (change !== 0) focusIn(list.current?.children[row]);
  }, [rows]);
  useEffect(() => {
    const element = list.current;
    const remember = ({ target }: FocusEvent) => {
      at.current = [...(element?.children ?? [])].findIndex((row) => row.contains(target as Node));
    };
    element?.addEventListener('focusin', remember);
    return () => element?.removeEventListener('focusin', remember);
  }, []);
  return list;
}

function focusIn(row: Element | undefined): void {
  row?.querySelector<HTMLElement>(CONTROLS)?.focus();
}
