import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { RequestRecord } from '../../api/client.ts';
import { callerQuery, isRefused } from '../../api/session.ts';
import { send, type SendResponse } from './send-call.ts';
import { firstDraft, isSafe, type SendDraft, type SentRoute } from './send-draft.ts';

/** What was sent, and what came back. */
export interface SendOutcome {
  readonly key: number;
  readonly draft: SendDraft;
  readonly response: SendResponse;
}

/** The state of a panel that sends requests. */
export interface Sending {
  readonly draft: SendDraft;
  readonly pasted: string;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly result: SendOutcome | undefined;
  /** Whether the reader is asked before a method that may change something. */
  readonly asked: boolean;
  readonly change: (part: Partial<SendDraft>) => void;
  readonly paste: (token: string) => void;
  readonly submit: () => void;
  readonly dismiss: () => void;
  readonly confirm: () => Promise<void>;
  readonly stop: () => void;
}

/** Sends one request at a time. */
export function useSending(
  route: SentRoute,
  record: Pick<RequestRecord, 'method' | 'path'> | undefined,
): Sending {
  const [draft, setDraft] = useState(() => firstDraft(route, record));
  const [pasted, setPasted] = useState('');
  const [asked, setAsked] = useState(false);
  const [result, setResult] = useState<SendOutcome>();
  const [error, setError] = useState<Error | null>(null);
  const queryClient = useQueryClient();
  const running = useRef<AbortController>(undefined);
  const mutation = useMutation({
    mutationFn: async () => {
      const aborter = new AbortController();
      running.current = aborter;
      setError(null);
      setResult(undefined);
      const response = await send(route.id, draft, pasted, aborter.signal);
      setResult({ key: Date.now(), draft, response });
      // It may be new, and pages name it.
      if (response.token !== null) void queryClient.invalidateQueries({ queryKey: ['tokens'] });
    },
    onError: (thrown) => {
      // The reader has stopped it.
      if (running.current?.signal.aborted === true) return;
      setError(thrown);
      // The shell watches whether the session is still there.
      if (isRefused(thrown)) void queryClient.invalidateQueries({ queryKey: callerQuery.queryKey });
    },
  });
  const { isPending } = mutation;
  return {
    ...{ draft, pasted, isPending, error, result, asked },
    change: (part) => setDraft((now) => ({ ...now, ...part })),
    paste: setPasted,
    submit() {
      if (isPending || asked) return;
      if (isSafe(draft.method)) mutation.mutate();
      else setAsked(true);
    },
    dismiss: () => setAsked(false),
    confirm() {
      mutation.mutate();
      return Promise.resolve();
    },
    stop: () => running.current?.abort(),
  };
}
