import { Input, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { serverClock } from '../../api/client.ts';
import { useField } from '../../ui/form/form-context.ts';
import { localInputOf, timeOfLocalInput } from '../../ui/form/local-input.ts';
import { localTime } from '../../ui/time-text.ts';
import { EXPIRIES, expiryAfter, usualExpiry } from './expiries.ts';

interface ExpiryFieldProps {
  /** When the secret of the session ends, which the token cannot outlive; null: never. */
  readonly ownEnd: string | null;
}

/** When a token ends: after some days, never, or at a time. */
export function ExpiryField({ ownEnd }: ExpiryFieldProps) {
  const { value, error, set } = useField('expires_at');
  const [choice, setChoice] = useState(() => usualExpiry(ownEnd, serverClock.nowMs()));
  const choices = [
    ...EXPIRIES.map(({ value: name, label }) => ({ value: name, label })),
    ownEnd === null ? { value: 'never', label: 'Never' } : { value: 'own', label: 'With yours' },
    { value: 'custom', label: 'At a time' },
  ];

  function choose(chosen: string): void {
    setChoice(chosen);
    if (chosen !== 'custom') set(expiryAfter(chosen, serverClock.nowMs()));
  }

  const text = typeof value === 'string' ? value : undefined;
  return (
    <Input.Wrapper
      data-path="expires_at"
      label="Expires"
      error={choice === 'custom' ? undefined : error}
      labelElement="div"
    >
      <Stack gap="xs" mt={4}>
        <SegmentedControl
          aria-label="Expires"
          data={choices}
          value={choice}
          onChange={choose}
          fullWidth
        />
        {choice === 'custom' && (
          <TextInput
            type="datetime-local"
            aria-label="Time of the expiry"
            value={text === undefined ? '' : localInputOf(text)}
            error={error}
            onChange={({ currentTarget }) => set(timeOfLocalInput(currentTarget.value))}
          />
        )}
        <Text size="xs" c="dimmed">
          {sentenceOf(text, ownEnd)}
        </Text>
      </Stack>
    </Input.Wrapper>
  );
}

function sentenceOf(at: string | undefined, ownEnd: string | null): string {
  const own =
    ownEnd === null ? '' : ` Your own token ends on ${localTime(ownEnd)}; it cannot be later.`;
  if (at !== undefined) return `It ends on ${localTime(at)}.${own}`;
  return ownEnd === null ? 'It stays valid until somebody revokes it.' : own.trim();
}
