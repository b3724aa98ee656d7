import { useQuery } from '@tanstack/react-query';
import { Group, Title, Tooltip } from '@mantine/core';
import { ChevronDown, ChevronUp, Maximize2, X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { IconLink } from '../../../ui/button-link.tsx';
import { IconButton } from '../../../ui/icon-button.tsx';
import { LoadError } from '../../../ui/load-error.tsx';
import { RequestHeading } from '../detail/request-heading.tsx';
import { RequestSkeleton } from '../detail/request-skeleton.tsx';
import { RequestView } from '../detail/request-view.tsx';
import { requestTitle } from '../request-path.ts';
import { requestQuery } from '../requests-query.ts';
import classes from './request-drawer.module.css';

/** Above this width of the window it stands beside the list; see the style sheet. */
const BESIDE = '(min-width: 75em)';

interface RequestDrawerProps {
  readonly id: string;
  /** The ids of the list, in its order. */
  readonly ids: readonly string[];
  readonly onOpen: (id: string | undefined) => void;
}

/** A request beside the list, or over it where there is no room. */
export function RequestDrawer({ id, ids, onOpen }: RequestDrawerProps) {
  const { data, error, refetch } = useQuery(requestQuery(id));
  const place = useRef<HTMLElement>(null);
  const title = data === undefined ? `Request ${id}` : requestTitle(data);
  const at = ids.indexOf(id);
  useEffect(() => {
    place.current?.scrollTo({ top: 0 });
    // Over the list, the keyboard belongs to what is seen.
    if (!window.matchMedia(BESIDE).matches) place.current?.focus();
  }, [id]);
  return (
    <section ref={place} className={classes.drawer} aria-label={title} tabIndex={-1}>
      <Group className={classes.head ?? ''} justify="space-between" wrap="nowrap" gap="xs">
        <Title order={2} className={classes.title ?? ''}>
          {data === undefined ? title : <RequestHeading record={data} />}
        </Title>
        <Group gap={2} wrap="nowrap">
          <IconButton
            icon={ChevronUp}
            label="Previous request (k)"
            disabled={at <= 0}
            onClick={() => onOpen(ids[at - 1])}
          />
          <IconButton
            icon={ChevronDown}
            label="Next request (j)"
            disabled={at < 0 || at === ids.length - 1}
            onClick={() => onOpen(ids[at + 1])}
          />
          <Tooltip label="Open the page">
            <IconLink
              to="/requests/$id"
              params={{ id }}
              variant="subtle"
              color="gray"
              size={32}
              aria-label="Open the page"
            >
              <Maximize2 size={16} strokeWidth={1.75} aria-hidden />
            </IconLink>
          </Tooltip>
          <IconButton icon={X} label="Close (Esc)" onClick={() => onOpen(undefined)} />
        </Group>
      </Group>
      <div className={classes.body}>
        {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <RequestSkeleton />}
        {data !== undefined && <RequestView record={data} narrow />}
      </div>
    </section>
  );
}
