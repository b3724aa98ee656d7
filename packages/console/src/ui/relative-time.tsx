import { Tooltip } from '@mantine/core';
import { useNow } from './now.ts';
import { localTime, relativeTime, utcTime } from './time-text.ts';

interface TimeProps {
  /** RFC 3339. */
  readonly at: string;
}

/** How long ago, such as `3 min ago`. Hovering shows the time in the local zone and in UTC. */
export function RelativeTime({ at }: TimeProps) {
  const nowMs = useNow();
  return <TimeWithZones at={at} text={relativeTime(Date.parse(at), nowMs)} />;
}

/** A time in the local zone. Hovering shows it in UTC. */
export function LocalTime({ at }: TimeProps) {
  return <TimeWithZones at={at} text={localTime(at)} />;
}

function TimeWithZones({ at, text }: TimeProps & { readonly text: string }) {
  const label = (
    <>
      {localTime(at)}
      <br />
      {utcTime(at)}
    </>
  );
  return (
    <Tooltip label={label} events={{ hover: true, focus: true, touch: true }}>
      <time dateTime={at}>{text}</time>
    </Tooltip>
  );
}
