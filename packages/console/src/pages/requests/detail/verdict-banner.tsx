import { CircleCheck, CircleX, TriangleAlert } from 'lucide-react';
import { Text } from '@mantine/core';
import type { RequestRecord } from '../../../api/client.ts';
import { visibleText } from '../../../ui/visible-text.ts';
import { verdictOf } from '../verdict/verdict.ts';
import classes from './verdict-banner.module.css';

const ICONS = { good: CircleCheck, warn: TriangleAlert, bad: CircleX } as const;

interface VerdictBannerProps {
  readonly record: RequestRecord;
  /** The URLs of the upstreams by id, as far as they are known. */
  readonly urls: ReadonlyMap<string, string>;
  /** Whether there is little room. */
  readonly narrow: boolean;
}

/** What happened to the request in one sentence, and what can be changed. */
export function VerdictBanner({ record, urls, narrow }: VerdictBannerProps) {
  const { tone, text, change } = verdictOf(record, (id) => urls.get(id) ?? id);
  const Icon = ICONS[tone];
  return (
    <section
      className={classes.banner}
      data-tone={tone}
      data-narrow={narrow || undefined}
      aria-label="Verdict"
    >
      <Icon size={18} className={classes.icon ?? ''} aria-hidden />
      <div>
        <Text className={classes.text ?? ''}>
          <Named text={text} />
        </Text>
        {change !== undefined && (
          <Text size="sm" c="dimmed">
            <Named text={change} />
          </Text>
        )}
      </div>
    </section>
  );
}

/** A text with its names, which stand between backticks, as code. */
function Named({ text }: { readonly text: string }) {
  return visibleText(text)
    .split('`')
    .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
