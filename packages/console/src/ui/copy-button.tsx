import { Button, type ButtonProps } from '@mantine/core';
import { useState } from 'react';
import { isCopied } from './copy-text.ts';

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
