import { ArrowUp } from 'lucide-react';
import classes from './fresh-requests.module.css';

interface FreshRequestsProps {
  /** How many came since the list stands still: `14`, or `50+`; undefined: none. */
  readonly fresh: string | undefined;
  readonly onShow: () => void;
}

/** Says over a list that stands still that there are newer requests, and shows them. */
export function FreshRequests({ fresh, onShow }: FreshRequestsProps) {
  return (
    <div className={classes.place} role="status">
      {fresh !== undefined && (
        <button type="button" className={classes.button} onClick={onShow}>
          <ArrowUp size={14} aria-hidden />
          {fresh} new {fresh === '1' ? 'request' : 'requests'}
        </button>
      )}
    </div>
  );
}
