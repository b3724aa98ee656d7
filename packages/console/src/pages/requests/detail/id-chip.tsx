import { Check, Copy, X } from 'lucide-react';
import { useState } from 'react';
import { isCopied } from '../../../ui/copy-text.ts';
import classes from './id-chip.module.css';

/** The id of a request. A click copies it. */
export function IdChip({ id }: { readonly id: string }) {
  const [result, setResult] = useState<'copied' | 'failed'>();
  const Icon = result === undefined ? Copy : result === 'copied' ? Check : X;
  const said = result === undefined ? 'Copy' : result === 'copied' ? 'Copied' : 'Not copied';
  return (
    <button
      type="button"
      className={classes.chip}
      aria-label={`${said} ${id}`}
      aria-live="polite"
      onClick={() => void isCopied(id).then((done) => setResult(done ? 'copied' : 'failed'))}
      onBlur={() => setResult(undefined)}
    >
      <span>{id}</span>
      <Icon size={12} aria-hidden />
    </button>
  );
}
