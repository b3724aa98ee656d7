/** Events per second for people: `0`, `0.03`, `4.2`, `1,250`. */
export function rateText(perSecond: number): string {
  if (perSecond === 0) return '0';
  if (perSecond < 0.005) return '< 0.01';
  const digits = perSecond < 1 ? 2 : perSecond < 99.95 ? 1 : 0;
  return perSecond.toLocaleString(undefined, { maximumFractionDigits: digits });
}

/** A part of a whole, such as an error rate: `0 %`, `0.02 %`, `3.4 %`, `50 %`. `–`: there is no whole. */
export function shareText(share: number | null): string {
  if (share === null) return '–';
  const percent = share * 100;
  if (percent === 0) return '0 %';
  if (percent < 0.005) return '< 0.01 %';
  const digits = percent < 1 ? 2 : percent < 9.95 ? 1 : 0;
  return `${percent.toLocaleString(undefined, { maximumFractionDigits: digits })} %`;
}
