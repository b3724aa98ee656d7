/** Marks a row of a list that `j` and `k` lead to. */
export const ROW_ATTRIBUTE = 'data-list-row';

const ROW = `[${ROW_ATTRIBUTE}]`;

/** What opens a row: what is marked as that, or else the link or the button in its heading; null: nothing does. */
export function rowLink(row: Element): HTMLElement | null {
  return (
    row.querySelector<HTMLElement>('[data-row-link]') ??
    row.querySelector<HTMLElement>('th a, th button')
  );
}

/**
 * Moves the focus to what opens the next row, or the previous one, or to the row itself if nothing opens it. Without a row
 * in focus these are the first one and the last one. If a row is open beside the list, the other one opens in its place.
 */
export function moveToRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>(ROW)];
  const open = rows.find((row) => row.hasAttribute('data-open-beside'));
  const at = open ?? focusedRow();
  const index = at === undefined ? -1 : rows.indexOf(at);
  const next = rows[index < 0 ? (step > 0 ? 0 : rows.length - 1) : index + step];
  if (next === undefined) return;
  const link = rowLink(next);
  (link ?? next).focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
  if (open !== undefined) link?.click();
}

/** Opens the row in focus, as Enter does where the focus is on its link. */
export function openRow(): void {
  const row = focusedRow();
  if (row !== undefined) rowLink(row)?.click();
}

function focusedRow(): HTMLElement | undefined {
  return document.activeElement?.closest<HTMLElement>(ROW) ?? undefined;
}
