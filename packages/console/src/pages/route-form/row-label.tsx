import { VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';

/**
 * The label of a field in a row. A label stands over all rows of a list, so it shows no number; who does not see where the
 * field is hears of which row it is.
 */
export function rowLabel(shown: string, ofRow: string): ReactNode {
  return (
    <>
      {shown}
      <VisuallyHidden>{ofRow}</VisuallyHidden>
    </>
  );
}
