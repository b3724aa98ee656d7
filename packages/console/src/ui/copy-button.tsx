import { Button, type ButtonProps } from '@mantine/core';
import { useState } from 'react';

interface CopyButtonProps extends ButtonProps {
  /** What is copied. */
  readonly text: string;
  /** Names what is copied, for people who do not see it: `Copy` and this are the name of the button. */
  readonly what: string;
}

/** Copies a text. The button says whether it worked. */
export function CopyButton({ text, what, ...props }: CopyButtonProps) {
  const [result, setResult] = useState<'copied' | 'failed'>();

  async function copy(): Promise<void> {
    setResult((await isCopied(text)) ? 'copied' : 'failed');
  }

  const said = result === undefined ? 'Copy' : result === 'copied' ? 'Copied' : 'Not copied';
  return (
    <Button
      variant="default"
      size="xs"
      flex="none"
      {...props}
      aria-label={`${said} ${what}`}
      aria-live="polite"
      onClick={() => void copy()}
      onBlur={() => setResult(undefined)}
    >
      {said}
    </Button>
  );
}

/** Whether the browser took the text. Without TLS it offers only the older way, which copies what is selected. */
async function isCopied(text: string): Promise<boolean> {
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
