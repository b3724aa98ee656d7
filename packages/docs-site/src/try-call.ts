import { callOf, type CallField } from './call-of.ts';
import { confirmCall } from './confirm-call.ts';
import { showResult, showText } from './show-result.ts';

/** Below it the management API accepts a session of the console in place of a token. */
const SESSION_CALLS = '/console/api';
/** What a call with a session needs: a page of another origin cannot send it. */
const OWN = { 'X-Console-Request': '1' };

interface CallerResponse {
  readonly data: { readonly name: string };
}

/** Says under whose session calls are sent, or where to sign in. */
async function showSession(note: HTMLElement): Promise<boolean> {
  const response = await fetch(`${SESSION_CALLS}/v1/whoami`, { headers: OWN });
  if (!response.ok) {
    const link = document.createElement('a');
    link.href = '/console';
    link.target = '_blank';
    link.textContent = 'Sign in to the console';
    note.replaceChildren(
      link,
      ' in another tab to send calls from here. No token comes into this page.',
    );
    return false;
  }
  const { data } = (await response.json()) as CallerResponse;
  note.textContent = `The call is sent with your session of the console, as the token ${data.name}.`;
  return true;
}

async function send(form: HTMLFormElement, result: HTMLElement): Promise<void> {
  const { method = 'GET', path = '' } = form.dataset;
  const fields = [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[data-in]')];
  const call = callOf(
    path,
    fields.map(({ name, value, dataset }) => ({
      name,
      value: value.trim(),
      in: dataset['in'] as CallField['in'],
    })),
  );
  const body = form.querySelector('textarea')?.value;
  if (form.dataset['unsafe'] !== undefined && !(await confirmCall(method, call.target))) return;
  const startedAt = performance.now();
  const response = await fetch(SESSION_CALLS + call.target, {
    method,
    headers: {
      ...OWN,
      ...call.headers,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  showResult(result, response, text, performance.now() - startedAt);
}

for (const box of document.querySelectorAll<HTMLDetailsElement>('[data-try]')) {
  box.hidden = false;
  const form = box.querySelector('form');
  const note = box.querySelector<HTMLElement>('[data-session]');
  const result = box.querySelector<HTMLElement>('[data-result]');
  if (form === null || note === null || result === null) continue;
  let signedIn = false;
  const ask = () => {
    if (!box.open || signedIn) return;
    showSession(note).then(
      (is) => (signedIn = is),
      () => showText(result, 'The control plane cannot be reached.'),
    );
  };
  box.addEventListener('toggle', ask);
  // Somebody who has signed in elsewhere comes back.
  addEventListener('focus', ask);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const button = form.querySelector('button');
    if (button !== null) button.disabled = true;
    send(form, result)
      .catch((error: unknown) => showText(result, `The call was not answered: ${String(error)}`))
      .finally(() => {
        if (button !== null) button.disabled = false;
      });
  });
}
