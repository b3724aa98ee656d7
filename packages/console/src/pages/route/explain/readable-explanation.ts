import { idsInTexts, readableTexts } from '@gateway/client/explained-text';
import { useMemo } from 'react';
import type { Explanation } from '../../../api/client.ts';
import { useNamesOfTokens } from '../../../api/token-names.ts';

/** An explanation whose sentences name tokens, and have times and sizes in units that people use. */
export function useReadableExplanation(explanation: Explanation): Explanation {
  const tokens = useMemo(
    () => idsInTexts(explanation).filter((id) => id.startsWith('tok_')),
    [explanation],
  );
  const nameOf = useNamesOfTokens(tokens);
  return readableTexts(explanation, nameOf);
}
