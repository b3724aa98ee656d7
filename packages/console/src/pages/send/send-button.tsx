import { useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useState } from 'react';
import type { RequestRecord } from '../../api/client.ts';
import { namedRouteQuery } from '../../api/named-route.ts';
import { useRight, useScope } from '../../api/rights.ts';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import type { SentRoute } from './send-draft.ts';

/** The hash of a link that opens the panel on the page of a route. */
export const SEND_HASH = 'send';

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
  const isLinked = useLocation({ select: ({ hash }) => hash === SEND_HASH });
  const navigate = useNavigate();
  const { allowed } = useScope('proxy');
  const [isPressed, setPressed] = useState(false);
  const isOpen = isPressed || (isLinked && allowed && record === undefined);

  function close(): void {
    setPressed(false);
    if (isLinked) void navigate({ to: '.', search: true, hash: '', replace: true });
  }

  return (
    <>
      <ScopedButton
        scope="proxy"
        variant="default"
        size={record === undefined ? 'sm' : 'xs'}
        onClick={() => setPressed(true)}
        leftSection={<Send size={14} aria-hidden />}
      >
        {record === undefined ? 'Send a request' : 'Send again'}
      </ScopedButton>
      {isOpen && (
        <SendDrawer route={route} {...(record === undefined ? {} : { record })} onClose={close} />
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
