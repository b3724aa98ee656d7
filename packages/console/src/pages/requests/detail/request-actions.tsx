import { Group } from '@mantine/core';
import { ListFilter, SquareTerminal, Link as LinkIcon, FlaskConical } from 'lucide-react';
import { Children, type ReactNode } from 'react';
import { serverClock, type RequestRecord } from '../../../api/client.ts';
import { useScope } from '../../../api/rights.ts';
import { ButtonLink } from '../../../ui/button-link.tsx';
import { SendAgain } from '../../send/send-button.tsx';
import { explainLink } from '../explain-link.ts';
import { curlText } from '../curl-text.ts';
import { environmentOf, useRouteId } from '../record-links.tsx';
import { similarSearch } from '../requests-search.ts';
import { CopyAction } from './copy-action.tsx';

interface RequestActionsProps {
  readonly record: RequestRecord;
  /** Whether there is little room, so that what copies is only an icon. */
  readonly narrow: boolean;
}

/** What can be done with a request. */
export function RequestActions({ record, narrow }: RequestActionsProps) {
  return (
    <Actions narrow={narrow}>
      <SendAgain record={record} />
      <ExplainNow record={record} />
      <ButtonLink
        to="/requests"
        search={{ ...similarSearch(record, serverClock.nowMs()), ...environmentOf(record) }}
        variant="default"
        size="xs"
        leftSection={<ListFilter size={14} aria-hidden />}
      >
        Find similar
      </ButtonLink>
      <CopyAction
        label="Copy link"
        icon={LinkIcon}
        isIconOnly={narrow}
        text={() => `${location.origin}/console/requests/${record.id}`}
      />
      <CopyAction
        label="Copy as curl"
        icon={SquareTerminal}
        isIconOnly={narrow}
        text={() => curlText(record, location.origin)}
        note="The token is a variable. The query, header values and the body are not recorded."
      />
    </Actions>
  );
}

function Actions({ narrow, children }: { readonly narrow: boolean; readonly children: ReactNode }) {
  return (
    <Group gap={narrow ? 4 : 8} role="group" aria-label="Actions">
      {Children.toArray(children)}
    </Group>
  );
}

/** What a data plane would do with the same request now. */
function ExplainNow({ record }: { readonly record: RequestRecord }) {
  const routeId = useRouteId(record);
  const { allowed } = useScope('config:read');
  if (!allowed || routeId === undefined || routeId === null) return null;
  return (
    <ButtonLink
      to="/routes/$routeId"
      params={{ routeId }}
      search={{ ...explainLink(record), ...environmentOf(record) }}
      variant="default"
      size="xs"
      leftSection={<FlaskConical size={14} aria-hidden />}
    >
      Explain now
    </ButtonLink>
  );
}
