/** Whether an entry is the beginning of a page that is called what was typed, in the singular or the plural. */
export function isPageCalled(
  entry: { readonly page: string; readonly heading: string } | undefined,
  text: string,
): boolean {
  return entry !== undefined && entry.heading === '' && singular(entry.page) === singular(text);
}

function singular(text: string): string {
  return text.trim().toLowerCase().replace(/s$/, '');
}
