import { useNavigate } from '@tanstack/react-router';
import { useState, type SubmitEvent } from 'react';
import { SearchField } from '../../ui/search-field.tsx';
import { requestIdIn } from '../../api/request-id.ts';
import classes from './find-request.module.css';

/** Opens the request whose id is pasted, also with other text around it, or typed. */
export function FindRequest() {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [missing, setMissing] = useState(false);

  function take(given: string): void {
    setText(given);
    setMissing(false);
    const id = requestIdIn(given);
    if (id !== undefined) void navigate({ to: '/requests/$id', params: { id } });
  }

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    setMissing(text.trim() !== '' && requestIdIn(text) === undefined);
  }

  return (
    <form onSubmit={submit} role="search" className={classes.form}>
      <SearchField
        aria-label="Find a request by its id"
        placeholder="Request id, or text with one"
        value={text}
        onChange={({ currentTarget: { value } }) => take(value)}
        error={missing && 'There is no request id in this text: req_ and 26 characters.'}
      />
    </form>
  );
}
