import { Text } from '@mantine/core';
import type { DataPlane } from '../../api/client.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { describeErrors, describeLag } from './describe-lag.ts';

interface ServedCellProps {
  readonly served: DataPlane['environments'][number] | undefined;
}

/** Which version a data plane serves. One that is behind is seen from afar. */
export function Lag({ served }: ServedCellProps) {
  const isBehind = served !== undefined && served.versions_behind > 0;
  return (
    <Text span inherit {...(isBehind && { c: 'var(--warn)', fw: 500 })}>
      {describeLag(served)}
    </Text>
  );
}

/** Why it does not serve the newest version, and what of its own it cannot use. */
export function Problem({ served }: ServedCellProps) {
  const problem = describeErrors(served);
  return (
    <Text span inherit c={problem === '' ? 'dimmed' : 'var(--bad)'}>
      {problem === '' ? 'none' : visibleText(problem)}
    </Text>
  );
}
