import { Check, Copy, X } from 'lucide-react';
import { useState } from 'react';
import { isCopied } from './copy-text.ts';
import { visibleText } from './visible-text.ts';
import classes from './copy-chip.module.css';

interface CopyChipProps {
  readonly text: string;
  /** Names what is copied, for people who do not see it. */
  readonly what: string;
  /** Whether it stands among other texts, and looks like one. */
  readonly isPlain?: boolean;
}

/** A text that people copy, such as an id. A click does so. */
export function CopyChip({ text, what, isPlain = false }: CopyChipProps) {
  const [result, setResult] = useState<'copied' | 'failed'>();
  const Icon = result === undefined ? Copy : result === 'copied' ? Check : X;
  const said = result === undefined ? 'Copy' : result === 'copied' ? 'Copied' : 'Not copied';
  return (
    <button
      type="button"
      className={classes.chip}
      data-plain={isPlain || undefined}
      aria-label={`${said} ${what} ${text}`}
      aria-live="polite"
      onClick={() => void isCopied(text).then((done) => setResult(done ? 'copied' : 'failed'))}
      onBlur={() => setResult(undefined)}
    >
      <span>{visibleText(text)}</span>
      <Icon size={12} aria-hidden />
    </button>
  );
}
