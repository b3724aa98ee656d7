import classes from './brand.module.css';

/** The mark and the name of the product. */
export function Brand() {
  return (
    <span className={classes.brand}>
      <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden>
        <rect width="32" height="32" rx="8" className={classes.ground} />
        <path d="M7 16h16m-6-6 6 6-6 6" className={classes.arrow} />
      </svg>
      Gateway
    </span>
  );
}
