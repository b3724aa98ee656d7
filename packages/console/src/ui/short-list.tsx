import { countText } from '@gateway/client/measures';
import { Anchor } from '@mantine/core';
import { useState } from 'react';
import classes from './short-list.module.css';
import { visibleText } from './visible-text.ts';

interface ShortListProps {
  readonly items: readonly string[];
  /** Names them for people who do not see them: `All` and this are the name of the button. */
  readonly what: string;
}

const SHOWN = 3;

/** Texts that people compare, such as addresses: the first few, and all of them if the reader wants them. */
export function ShortList({ items, what }: ShortListProps) {
  const [isWhole, setWhole] = useState(false);
  // One line less would save nothing.
  const isShort = items.length <= SHOWN + 1;
  const shown = isShort || isWhole ? items : items.slice(0, SHOWN);
  const more = items.length - SHOWN;
  return (
    <div>
      {/* Focus lets the keyboard scroll it. */}
      <ul className={classes.items} aria-label={what} tabIndex={isWhole ? 0 : undefined}>
        {shown.map((item, at) => (
          <li key={`${at} ${item}`}>{visibleText(item)}</li>
        ))}
      </ul>
      {!isShort && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          aria-expanded={isWhole}
          aria-label={isWhole ? `Show fewer ${what}` : `and ${countText(more)} more ${what}`}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? 'Show fewer' : `and ${countText(more)} more`}
        </Anchor>
      )}
    </div>
  );
}
