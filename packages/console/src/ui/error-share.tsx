import { Text } from '@mantine/core';
import { NoValue } from './no-value.tsx';
import { shareText } from './share-text.ts';

/** From this part on errors are seen from afar. */
const MANY_ERRORS = 0.01;

/** What makes a part of failed requests as loud as it is meant, on every page. */
export function errorTone(share: number) {
  if (share >= MANY_ERRORS) return { c: 'var(--bad)', fw: 500 };
  return share === 0 ? { c: 'dimmed' } : {};
}

/** The part of the requests that failed, as words without a link. */
export function ErrorShare({
  errors,
  requests,
}: {
  readonly errors: number;
  readonly requests: number;
}) {
  if (requests === 0) return <NoValue />;
  const share = errors / requests;
  return (
    <Text span inherit {...errorTone(share)}>
      {shareText(share)}
    </Text>
  );
}
