import { countedText } from '@gateway/client/measures';
import { Anchor } from '@mantine/core';
import { useState } from 'react';
import { visibleText } from './visible-text.ts';

interface LongTextProps {
  readonly text: string;
  /** Names the text for people who do not see it: `Show the whole` and this are the name of the button. */
  readonly what: string;
}

const SHOWN_CHARS = 160;

/** A text from outside, such as a URL. Of a long one only the begin is shown until the reader wants all of it. */
export function LongText({ text, what }: LongTextProps) {
  const [isWhole, setWhole] = useState(false);
  // A few characters less would save nothing.
  if (text.length <= SHOWN_CHARS * 1.5) return visibleText(text);
  return (
    <>
      {visibleText(isWhole ? text : `${text.slice(0, SHOWN_CHARS)}…`)}{' '}
      <Anchor
        component="button"
        type="button"
        size="sm"
        aria-expanded={isWhole}
        aria-label={`${isWhole ? 'Shorten the' : 'Show the whole'} ${what}`}
        onClick={() => setWhole(!isWhole)}
      >
        {isWhole ? 'Show less' : `Show all ${countedText(text.length, 'character')}`}
      </Anchor>
    </>
  );
}
