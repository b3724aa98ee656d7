import { Button, Tooltip } from '@mantine/core';
import { Check, X, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { isCopied } from '../../../ui/copy-text.ts';

interface CopyActionProps {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly text: () => string;
  readonly isIconOnly?: boolean;
  /** What the reader should know about the text. */
  readonly note?: string;
}

/** A button that copies something. It says whether it worked. */
export function CopyAction({ label, icon, isIconOnly = false, text, note }: CopyActionProps) {
  const [result, setResult] = useState<'copied' | 'failed'>();
  const Icon = result === undefined ? icon : result === 'copied' ? Check : X;
  const said = result === undefined ? label : result === 'copied' ? 'Copied' : 'Not copied';
  const tip = isIconOnly && note !== undefined ? `${said}. ${note}` : (note ?? said);
  return (
    <Tooltip label={tip} disabled={note === undefined && !isIconOnly} multiline maw={280}>
      <Button
        variant="default"
        size="xs"
        {...(isIconOnly ? { px: 7, 'aria-label': said } : {})}
        aria-live="polite"
        onClick={() => void isCopied(text()).then((done) => setResult(done ? 'copied' : 'failed'))}
        onBlur={() => setResult(undefined)}
        leftSection={isIconOnly ? undefined : <Icon size={14} aria-hidden />}
      >
        {isIconOnly ? <Icon size={14} aria-hidden /> : said}
      </Button>
    </Tooltip>
  );
}
