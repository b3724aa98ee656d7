import { Button, Tooltip } from '@mantine/core';
import { Check, X, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { isCopied } from '../../../ui/copy-text.ts';

interface CopyActionProps {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly text: () => string;
  /** What the reader should know about the text. */
  readonly note?: string;
}

/** A button that copies something. It says whether it worked. */
export function CopyAction({ label, icon, text, note }: CopyActionProps) {
  const [result, setResult] = useState<'copied' | 'failed'>();
  const Icon = result === undefined ? icon : result === 'copied' ? Check : X;
  const said = result === undefined ? label : result === 'copied' ? 'Copied' : 'Not copied';
  return (
    <Tooltip label={note} disabled={note === undefined} multiline maw={280}>
      <Button
        variant="default"
        size="xs"
        leftSection={<Icon size={14} aria-hidden />}
        aria-live="polite"
        onClick={() => void isCopied(text()).then((done) => setResult(done ? 'copied' : 'failed'))}
        onBlur={() => setResult(undefined)}
      >
        {said}
      </Button>
    </Tooltip>
  );
}
