import { Empty } from './empty.tsx';

/** In place of an empty page that is not the last one: the API ends a slow search after a few seconds. */
export function NothingYet() {
  return <Empty title="Nothing found yet">The search continues on the next page.</Empty>;
}
