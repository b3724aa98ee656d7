import { Anchor, Group } from '@mantine/core';
import type { LinkValues } from '@gateway/shared/links/link-template';
import { lastHour } from '@gateway/shared/links/link-values';
import { useQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { serverClock, type Links, type RequestRecord } from '../api/client.ts';
import { linksQuery } from '../api/links.ts';
import { linkTargets, linksOfRequest, type LinkTarget } from './link-targets.ts';

/** Links to the trace, the log lines and the dashboards of a request; nothing if no tool is set up. */
export function RequestLinks({ record }: { readonly record: RequestRecord }) {
  const { data } = useQuery(linksQuery);
  return <ExternalLinks targets={linksOfRequest(data, record)} />;
}

interface DashboardLinkProps {
  readonly dashboards: readonly (keyof Links['dashboards'])[];
  /** What the page is about. */
  readonly of?: LinkValues;
  /** What the page shows, ms since the Unix epoch: a dashboard shows at least the last hour. */
  readonly range?: { readonly fromMs: number };
}

/** Links to dashboards about the subject of a page; nothing if Grafana is not set up. */
export function DashboardLinks({ dashboards, of = {}, range }: DashboardLinkProps) {
  const { data } = useQuery(linksQuery);
  const { from_ms, to_ms } = lastHour(serverClock.nowMs());
  const values = { from_ms: Math.min(from_ms, range?.fromMs ?? from_ms), to_ms, ...of };
  return <ExternalLinks targets={linkTargets(data, dashboards, values)} />;
}

function ExternalLinks({ targets }: { readonly targets: readonly LinkTarget[] }) {
  if (targets.length === 0) return null;
  return (
    <Group gap="md" component="nav" aria-label="Other tools">
      {targets.map(({ label, href }) => (
        <Anchor key={label} href={href} target="_blank" rel="noopener noreferrer" size="sm">
          <Group gap={4} component="span" wrap="nowrap">
            {label}
            <ExternalLink size={12} strokeWidth={1.75} aria-hidden />
          </Group>
        </Anchor>
      ))}
    </Group>
  );
}
