import { Text, Tooltip } from '@mantine/core';
import type { Route } from '../../api/client.ts';
import { countedText } from '@gateway/client/measures';
import { shareText } from '../../ui/share-text.ts';
import { TextLink } from '../../ui/text-link.tsx';
import { windowText } from '../route/policies/words.ts';
import { quotaUse, type QuotaCounts } from './quota-use.ts';
import classes from './traffic-cells.module.css';

interface QuotaMeterProps {
  readonly route: Pick<Route, 'name' | 'environment' | 'rate_limit'>;
  readonly counted: QuotaCounts;
}

/** From this part on callers are near 429. */
const NEAR = 0.8;
/** Below it a quota is hardly used, however little exactly. */
const SMALL = 0.01;

/** How much of its quota a route used in its busiest window of the last hour, as a bar. */
export function QuotaMeter({ route, counted }: QuotaMeterProps) {
  const use = quotaUse(route, counted);
  if ('unknown' in use) {
    return use.isByCaller ? (
      <CallersLink route={route} hint={use.unknown} />
    ) : (
      <Hinted text="–" hint={use.unknown} />
    );
  }
  const { limit, window_seconds: seconds } = route.rate_limit;
  const tone = use.share >= 1 ? 'full' : use.share >= NEAR ? 'near' : 'free';
  const hint =
    `${countedText(Math.round(use.used), 'request')} of ${limit.toLocaleString('en')} in ${windowText(seconds)}, in the busiest ` +
    (use.isMean
      ? 'minute of the last hour. Windows are shorter than a minute, so this is a mean.'
      : 'window of the last hour.');
  return (
    <Tooltip label={hint} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      <span className={classes.meter} data-tone={tone} tabIndex={0}>
        <span className={classes.track} aria-hidden>
          <span className={classes.fill} style={{ width: `${Math.min(1, use.share) * 100}%` }} />
        </span>
        {use.share > 0 && use.share < SMALL ? '< 1 %' : shareText(use.share)}
      </span>
    </Tooltip>
  );
}

interface CallersLinkProps extends Pick<QuotaMeterProps, 'route'> {
  readonly hint: string;
}

/** Leads to the callers of the route, those first that have used most of their quota. */
function CallersLink({ route: { name, environment }, hint }: CallersLinkProps) {
  return (
    <TextLink
      to="/callers"
      search={{ environment, route: name, order: 'quota_used' }}
      inherit
      title={hint}
      aria-label={`Quota use of ${name} by caller`}
    >
      by caller
    </TextLink>
  );
}

function Hinted({ text, hint }: { readonly text: string; readonly hint: string }) {
  return (
    <Tooltip label={hint} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      <Text span c="dimmed" inherit tabIndex={0}>
        {text}
      </Text>
    </Tooltip>
  );
}
