import { Anchor } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { RequestRecord } from '../../../api/client.ts';
import { msText } from '../../../ui/ms-text.ts';
import { visibleText } from '../../../ui/visible-text.ts';
import { ownPath } from '../request-path.ts';
import { requestsSearch, withOpen, withRequestFilters } from '../requests-search.ts';
import { timeOfDay } from './day-groups.ts';
import classes from './path-cell.module.css';

const RowLink = createLink(Anchor<'a'>);

interface PathCellProps {
  readonly record: RequestRecord;
  /** The id of the request beside the list. */
  readonly open: string | undefined;
}

/** The route, the rest of the path, and why it failed. */
export function PathCell({ record, open }: PathCellProps) {
  const { id, method, path, route, error_code: code, outcome, received_at: at, timing } = record;
  const isOpen = open === id;
  const reason = code ?? (outcome === 'client_aborted' ? 'caller left' : null);
  return (
    <>
      <span className={classes.path}>
        {route !== null && (
          <RowLink
            to="/requests"
            search={(now) => withRequestFilters(requestsSearch(now), { route })}
            className={classes.chip ?? ''}
            title={`Only requests of ${visibleText(route)}`}
          >
            {visibleText(route)}
          </RowLink>
        )}
        <RowLink
          to="/requests"
          search={(now) => withOpen(requestsSearch(now), isOpen ? undefined : id)}
          resetScroll={false}
          // To go back is to leave the requests, not to read each of them once more.
          replace={open !== undefined}
          preload={false}
          className={classes.link ?? ''}
          data-row-link
          aria-label={visibleText(`${method} ${path}`)}
          aria-current={isOpen || undefined}
        >
          {visibleText(ownPath(record))}
        </RowLink>
        {reason !== null && <span className={classes.reason}>{reason}</span>}
      </span>
      <span className={classes.meta}>
        {method} · {timeOfDay(at)} · {msText(timing.total_ms)}
      </span>
    </>
  );
}
