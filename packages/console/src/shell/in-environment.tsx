import classes from './in-environment.module.css';
import { environmentTone } from './environment-tone.ts';

interface InEnvironmentProps {
  /** Such as `New route`. */
  readonly text: string;
  readonly environment: string;
}

/** A heading that says in which environment something is done, with the colour of the environment. */
export function InEnvironment({ text, environment }: InEnvironmentProps) {
  return (
    <>
      {text} in{' '}
      <span className={classes.environment} data-tone={environmentTone(environment)}>
        {environment}
      </span>
    </>
  );
}
