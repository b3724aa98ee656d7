/** Copies a text. @returns whether the browser took it. Without TLS it offers only the older way, which copies what is selected. */
export async function isCopied(text: string): Promise<boolean> {
  // Browsers leave it out where a page came without TLS from another machine.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) return isSelectionCopied(text);
  return clipboard.writeText(text).then(
    () => true,
    () => isSelectionCopied(text),
  );
}

function isSelectionCopied(text: string): boolean {
  const former = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  // Beside what has the focus, because a dialog takes the focus from everything outside of it.
  (former?.parentElement ?? document.body).append(field);
  field.select();
  try {
    return (document as unknown as OldDocument).execCommand('copy');
  } finally {
    field.remove();
    if (former instanceof HTMLElement) former.focus();
  }
}

/** The way that browsers keep for pages without TLS, which the types call deprecated. */
interface OldDocument {
  execCommand(command: 'copy'): boolean;
}
