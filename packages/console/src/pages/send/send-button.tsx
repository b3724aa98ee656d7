import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RequestRecord } from '../../api/client.ts';
import { namedRouteQuery } from '../../api/named-route.ts';
import { useRight } from '../../api/rights.ts';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import type { SentRoute } from './send-draft.ts';

/** Few visits need it. */
const SendDrawer = lazyPart(
  'send',
  async () => (await import('./send-drawer.tsx')).SendDrawer,
  () => null,
);

interface SendButtonProps {
  readonly route: SentRoute;
  /** The request that the form begins with. */
  readonly record?: Pick<RequestRecord, 'method' | 'path'>;
}

/** Opens the panel that sends a real request through the route. */
export function SendButton({ route, record }: SendButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ScopedButton
        scope="proxy"
        variant="default"
        size={record === undefined ? 'sm' : 'xs'}
        onClick={() => setOpen(true)}
      >
        {record === undefined ? 'Send a request' : 'Send again'}
      </ScopedButton>
      {isOpen && (
        <SendDrawer
          route={route}
          {...(record === undefined ? {} : { record })}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

/** The same for a recorded request; nothing, if its route is gone or the reader may not see routes. */
export function SendAgain({ record }: { readonly record: RequestRecord }) {
  const { environment, route: name } = record;
  const { allowed } = useRight({ scope: 'routes:read' });
  const { data: route } = useQuery({
    ...namedRouteQuery(environment ?? '', name ?? ''),
    enabled: allowed && environment !== null && name !== null,
  });
  // A copy, a health check or a WebSocket is not sent by a caller in this form.
  if (route === undefined || route === null || record.kind !== 'request') return null;
  return <SendButton route={route} record={record} />;
}
